/**
 * Deployments under random operations, while the server is killed at random points and controllers take over from each
 * other.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podGarbage } from '../../../src/controllers/nodes/pod-garbage/controller.ts'
import { Random } from '../../fuzz/random.ts'
import { playDeployment, replicaControllers } from '../replicas/deployment-model.ts'
import { RestartedControllers } from '../restarted-controllers.ts'
import { MortalServer } from './mortal-server.ts'
import { seed } from './seed.ts'

for (const strategy of [
  { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
  { type: 'Recreate' },
])
  test(`a Deployment (${strategy.type}) keeps its limits though the server is killed (T8S_SEED=${seed})`, {
    timeout: 200_000,
  }, async (t) => {
    const random = new Random(seed)
    const server = await MortalServer.start(t, ['--controllers=serviceaccount'])
    // A deletion of which only the first half is done is somebody else's to end.
    const controllers = new RestartedControllers(server.access, () => [
      ...replicaControllers(),
      podGarbage({ maxEnded: 0, periodMs: 500 }),
    ])
    t.after(() => controllers.kill())
    const disturb = async (): Promise<void> => {
      server.kill()
      // The controllers live on most times, with what they expected and what they remember.
      if (random.chance(0.3)) await controllers.replace()
    }
    await playDeployment(t, { cluster: server.cluster, namespace: 'kills', strategy, random, rounds: 6, disturb })
    await server.back()
    assert.ok(server.kills > 0)
    t.diagnostic(`${server.kills} kills, ${server.lost} requests were sent again`)
  })
