/**
 * Guarantees of controllers with delayed watches, each kind separately: a cache may have new pods and old claims.
 */
import { describe, type TestContext, test } from 'node:test'
import type { Connection } from '../../../src/client/connection/connection.ts'
import { daemonSetController } from '../../../src/controllers/daemon-sets/daemon-set.ts'
import { jobController } from '../../../src/controllers/jobs/job/job-controller.ts'
import { statefulSetController } from '../../../src/controllers/stateful-sets/stateful-set.ts'
import { Random } from '../../fuzz/random.ts'
import { type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { endpointControllers, playEndpoints } from '../endpoints/endpoints-model.ts'
import { playJob } from '../jobs/job-model.ts'
import { seed } from '../kills/seed.ts'
import { playDeployment, replicaControllers } from '../replicas/deployment-model.ts'
import { playDaemonSet } from '../sets/daemon-set-model.ts'
import { playStatefulSet } from '../sets/stateful-set-model.ts'
import { LateClient, oneInTen } from './late-client.ts'
import { RestartedControllers } from './restarted-controllers.ts'

/** One cluster for each test, as its controllers handle all namespaces. */
const cluster = (t: TestContext): Promise<TestCluster> => testCluster(t, { controllers: ['serviceaccount'] })
const random = new Random(seed)
const late = (connection: Connection): LateClient => new LateClient(connection, oneInTen(random, 3000))
const undisturbed = async (): Promise<void> => {}

describe('controllers with delayed watches', { concurrency: true, timeout: 180_000 }, () => {
  for (const isIndexed of [false, true])
    test(`${isIndexed ? 'an Indexed' : 'a'} Job counts each pod once (T8S_SEED=${seed})`, async (t) => {
      const own = await cluster(t)
      const controller = new RestartedControllers(own.client, () => [jobController({ concurrency: 2 })], late)
      t.after(() => controller.stop())
      await playJob({ cluster: own, isIndexed, random, disturb: undisturbed, rest: undisturbed })
    })

  for (const policy of ['OrderedReady', 'Parallel'] as const)
    test(`a StatefulSet (${policy}) keeps its order and its claims (T8S_SEED=${seed})`, async (t) => {
      const own = await cluster(t)
      const controller = new RestartedControllers(own.client, () => [statefulSetController({ concurrency: 2 })], late)
      t.after(() => controller.stop())
      await playStatefulSet(t, {
        cluster: own,
        namespace: 'late',
        policy,
        whenScaled: 'Delete',
        random,
        rounds: 8,
        disturb: undisturbed,
      })
    })

  for (const rollingUpdate of [
    { maxUnavailable: 1, maxSurge: 0 },
    { maxUnavailable: 0, maxSurge: 1 },
  ])
    test(`a DaemonSet (${JSON.stringify(rollingUpdate)}) keeps its limits (T8S_SEED=${seed})`, async (t) => {
      const own = await cluster(t)
      const controller = new RestartedControllers(own.client, () => [daemonSetController({ concurrency: 2 })], late)
      t.after(() => controller.stop())
      await playDaemonSet(t, {
        cluster: own,
        namespace: 'late',
        rollingUpdate,
        random,
        rounds: 6,
        disturb: undisturbed,
      })
    })

  for (const strategy of [
    { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
    { type: 'Recreate' },
  ])
    test(`a Deployment (${strategy.type}) keeps its limits (T8S_SEED=${seed})`, async (t) => {
      const own = await cluster(t)
      const controllers = new RestartedControllers(own.client, replicaControllers, late)
      t.after(() => controllers.stop())
      await playDeployment(t, { cluster: own, namespace: 'late', strategy, random, rounds: 3, disturb: undisturbed })
    })

  test(`slices and Endpoints match the pods (T8S_SEED=${seed})`, async (t) => {
    const own = await cluster(t)
    const controllers = new RestartedControllers(own.client, endpointControllers, late)
    t.after(() => controllers.stop())
    await playEndpoints(t, { cluster: own, namespace: 'late', random, rounds: 8, disturb: undisturbed })
  })
})
