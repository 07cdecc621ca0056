/** A DaemonSet under random changes with restarts of its controller at random points. */
import { after, test } from 'node:test'
import { daemonSetController } from '../../../src/controllers/daemon-sets/daemon-set.ts'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { playDaemonSet } from './daemon-set-model.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount-controller'] })

for (const [seed, rollingUpdate] of Object.entries([
  { maxUnavailable: 1, maxSurge: 0 },
  { maxUnavailable: 2, maxSurge: 0 },
  { maxUnavailable: 0, maxSurge: 1 },
])) {
  test(`${JSON.stringify(rollingUpdate)}`, { timeout: 120_000 }, async (t) => {
    const all = await cluster
    const controller = new RestartedControllers(all.client, () => [daemonSetController({ concurrency: 2 })])
    t.after(() => controller.kill())
    const random = new Random(Number(seed) + 1)
    const disturb = () => controller.restart()
    await playDaemonSet(t, { cluster: all, namespace: `daemons-${seed}`, rollingUpdate, random, rounds: 15, disturb })
  })
}
