/** Endpoints under random changes of Services and pods, with their controllers restarted at random points. */
import { after, test } from 'node:test'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { seed } from '../kills/seed.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { endpointControllers, playEndpoints } from './endpoints-model.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount'] })

test(`slices and Endpoints match the pods (T8S_SEED=${seed})`, { timeout: 120_000 }, async (t) => {
  const all = await cluster
  const controllers = new RestartedControllers(all.client, endpointControllers)
  t.after(() => controllers.kill())
  await playEndpoints(t, {
    cluster: all,
    namespace: 'model',
    random: new Random(seed),
    rounds: 40,
    disturb: () => controllers.restart(),
  })
})
