/** Deployments under random operations while the server is killed and controllers are restarted at random points. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podGarbage } from '../../../src/controllers/nodes/pod-garbage/controller.ts'
import { Random } from '../../fuzz/random.ts'
import { playDeployment, replicaControllers } from '../replicas/deployment-model.ts'
import { RestartedControllers } from '../restarts/restarted-controllers.ts'
import { CrashingServer } from './crashing-server.ts'
import { seed } from './seed.ts'

for (const strategy of [
  { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
  { type: 'Recreate' },
])
  test(`a Deployment (${strategy.type}) keeps its limits while the server is killed (T8S_SEED=${seed})`, {
    timeout: 200_000,
  }, async (t) => {
    const random = new Random(seed)
    const server = await CrashingServer.start(t, ['--controllers=serviceaccount'])
    // The pod garbage collector completes half-finished deletions.
    const controllers = new RestartedControllers(server.access, () => [
      ...replicaControllers(),
      podGarbage({ maxEnded: 0, periodMs: 500 }),
    ])
    t.after(() => controllers.kill())
    const disturb = async (): Promise<void> => {
      server.kill()
      // Usually the controllers survive with their expectations and memory.
      if (random.chance(0.3)) await controllers.replace()
    }
    await playDeployment(t, { cluster: server.cluster, namespace: 'kills', strategy, random, rounds: 6, disturb })
    await server.back()
    assert.ok(server.kills > 0)
    t.diagnostic(`${server.kills} kills, ${server.lost} requests were sent again`)
  })
