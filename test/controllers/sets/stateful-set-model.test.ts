/** A StatefulSet under random changes with restarts of its controller at random points. */
import { after, test } from 'node:test'
import { statefulSetController } from '../../../src/controllers/stateful-sets/stateful-set.ts'
import { Random } from '../../fuzz/random.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { playStatefulSet } from './stateful-set-model.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount-controller'] })

for (const [seed, [policy, whenScaled]] of Object.entries([
  ['OrderedReady', 'Retain'],
  ['OrderedReady', 'Delete'],
  ['Parallel', 'Delete'],
] as const))
  test(`${policy}, claims when scaled: ${whenScaled}`, { timeout: 120_000 }, async (t) => {
    const all = await cluster
    const controller = new RestartedControllers(all.client, () => [statefulSetController({ concurrency: 2 })])
    t.after(() => controller.kill())
    const random = new Random(Number(seed) + 1)
    const disturb = () => controller.restart()
    await playStatefulSet(t, {
      cluster: all,
      namespace: `model-${seed}`,
      policy,
      whenScaled,
      random,
      rounds: 15,
      disturb,
    })
  })
