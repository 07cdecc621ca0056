/** Random owners and deletions while the server is killed: at the end exactly the owned objects are deleted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { garbageCollector } from '../../../src/controllers/garbage-collection/garbage-collector.ts'
import { Random } from '../../fuzz/random.ts'
import { bareFlags } from '../../support/bare-server.ts'
import { RandomOwners } from '../garbage-collection/random-owners.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { CrashingServer } from './crashing-server.ts'
import { seed } from './seed.ts'

const steps = 300
const workers = 6
/** Number of steps of the first worker between kills. */
const stepsToKill = 6

test(`objects are deleted exactly with their owners while the server is killed (T8S_SEED=${seed})`, {
  timeout: 200_000,
}, async (t) => {
  const random = new Random(seed)
  const server = await CrashingServer.start(t, bareFlags)
  const model = new RandomOwners(server.cluster, random)
  const collector = new RestartedControllers(server.access, () => [garbageCollector({ workers: 20 })])
  t.after(() => collector.kill())
  let left = steps
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let step = 0; left-- > 0; step++) {
        await model.step()
        if (worker > 0 || step % stepsToKill > 0) continue
        server.kill()
        if (random.chance(0.3)) await collector.restart()
      }
    }),
  )
  await model.settled()
  assert.ok(server.kills > 0)
  t.diagnostic(`${server.kills} kills, ${server.lost} requests were sent again`)
})
