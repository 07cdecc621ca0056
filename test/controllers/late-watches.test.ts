/** What controllers promise though their watches tell late, each for itself: of pods they may know what is new, of all else what was so a second ago. */
import { after, describe, test } from 'node:test'
import type { Connection } from '../../src/client/connection/connection.ts'
import { jobController } from '../../src/controllers/jobs/job/job-controller.ts'
import { statefulSetController } from '../../src/controllers/stateful-sets/stateful-set.ts'
import { Random } from '../fuzz/random.ts'
import { testCluster } from '../support/test-cluster.ts'
import { playJob } from './jobs/job-model.ts'
import { seed } from './kills/seed.ts'
import { LateClient, oneInTen } from './late-client.ts'
import { playDeployment, replicaControllers } from './replicas/deployment-model.ts'
import { RestartedControllers } from './restarted-controllers.ts'
import { playStatefulSet } from './sets/stateful-set-model.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount'] })
const random = new Random(seed)
const late = (connection: Connection): LateClient => new LateClient(connection, oneInTen(random, 3000))
const undisturbed = async (): Promise<void> => {}

describe('controllers whose watches tell late', { concurrency: true, timeout: 180_000 }, () => {
  for (const isIndexed of [false, true])
    test(`${isIndexed ? 'an Indexed' : 'a'} Job counts each pod once (T8S_SEED=${seed})`, async (t) => {
      // Jobs are played in the default namespace.
      const own = await testCluster(t, { controllers: ['serviceaccount'] })
      const controller = new RestartedControllers(own.client, () => [jobController({ concurrency: 2 })], late)
      t.after(() => controller.stop())
      await playJob({ cluster: own, isIndexed, random, disturb: undisturbed, rest: undisturbed })
    })

  for (const policy of ['OrderedReady', 'Parallel'] as const)
    test(`a StatefulSet (${policy}) keeps its order and its claims (T8S_SEED=${seed})`, async (t) => {
      const all = await cluster
      const controller = new RestartedControllers(all.client, () => [statefulSetController({ concurrency: 2 })], late)
      t.after(() => controller.stop())
      const namespace = `late-${policy.toLowerCase()}`
      await playStatefulSet(t, { cluster: all, namespace, policy, whenScaled: 'Delete', random, rounds: 8, disturb: undisturbed })
    })

  for (const strategy of [{ type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } }, { type: 'Recreate' }])
    test(`a Deployment (${strategy.type}) keeps its limits (T8S_SEED=${seed})`, async (t) => {
      const all = await cluster
      const controllers = new RestartedControllers(all.client, replicaControllers, late)
      t.after(() => controllers.stop())
      const namespace = `late-${strategy.type.toLowerCase()}`
      await playDeployment(t, { cluster: all, namespace, strategy, random, rounds: 3, disturb: undisturbed })
    })
})
