/** Deployments under random operations with restarts of their controllers at random points. */
import { after, test } from 'node:test'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { playDeployment, replicaControllers } from './deployment-model.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount'] })

for (const [seed, strategy] of [
  [1, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } }],
  [2, { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } }],
  [3, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } }],
  [4, { type: 'Recreate' }],
] as const)
  test(`a Deployment keeps its limits (seed ${seed}, ${JSON.stringify(strategy)})`, async (t) => {
    const all = await cluster
    const controllers = new RestartedControllers(all.client, replicaControllers)
    t.after(() => controllers.stop())
    const disturb = () => controllers.replace()
    await playDeployment(t, {
      cluster: all,
      namespace: `model-${seed}`,
      strategy,
      random: new Random(seed),
      rounds: 6,
      disturb,
    })
  })
