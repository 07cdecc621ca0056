/** StatefulSets under random changes while the server, and sometimes the controller, is killed at random points. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statefulSetController } from '../../../src/controllers/stateful-sets/stateful-set.ts'
import { Random } from '../../fuzz/random.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { playStatefulSet } from '../sets/stateful-set-model.ts'
import { CrashingServer } from './crashing-server.ts'
import { seed } from './seed.ts'

for (const policy of ['OrderedReady', 'Parallel'] as const)
  test(`a StatefulSet (${policy}) keeps its order while the server is killed (T8S_SEED=${seed})`, {
    timeout: 200_000,
  }, async (t) => {
    const random = new Random(seed)
    const server = await CrashingServer.start(t, ['--controllers=serviceaccount'])
    const controller = new RestartedControllers(server.access, () => [statefulSetController({ concurrency: 2 })])
    t.after(() => controller.kill())
    let kills = 10
    const disturb = async (): Promise<void> => {
      if (kills-- > 0) server.kill()
      if (random.chance(0.3)) await controller.restart()
    }
    await playStatefulSet(t, {
      cluster: server.cluster,
      namespace: 'kills',
      policy,
      whenScaled: 'Delete',
      random,
      rounds: 12,
      disturb,
    })
    await server.back()
    assert.ok(server.kills > 0)
    t.diagnostic(`${server.kills} kills, ${server.lost} requests were sent again`)
  })
