/** Jobs count each pod once while the server, and sometimes their controller, is killed at random points. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobController } from '../../../src/controllers/jobs/job/job-controller.ts'
import { podGarbage } from '../../../src/controllers/nodes/pod-garbage/controller.ts'
import { Random } from '../../fuzz/random.ts'
import { playJob } from '../jobs/job-model.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { CrashingServer } from './crashing-server.ts'
import { seed } from './seed.ts'

for (const isIndexed of [false, true])
  test(`${isIndexed ? 'an Indexed' : 'a'} Job counts each pod once while the server is killed (T8S_SEED=${seed})`, {
    timeout: 200_000,
  }, async (t) => {
    const random = new Random(seed)
    const server = await CrashingServer.start(t, ['--controllers=serviceaccount'])
    // The pod garbage collector completes half-finished deletions.
    const controller = new RestartedControllers(server.access, () => [
      jobController({ concurrency: 2 }),
      podGarbage({ maxEnded: 0, periodMs: 500 }),
    ])
    t.after(() => controller.kill())
    let steps = 0
    const disturb = async (): Promise<void> => {
      if (steps++ === 0 || random.chance(0.2)) server.kill()
      if (random.chance(0.1)) await controller.restart()
    }
    await playJob({ cluster: server.cluster, isIndexed, random, disturb, rest: () => server.back() })
    assert.ok(server.kills > 0)
    t.diagnostic(`${server.kills} kills, ${server.lost} requests were sent again`)
  })
