/** `--authorization-always-allow-paths` of the scheduler: paths without authorization. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:https'
import { test } from 'node:test'
import { startStandaloneScheduler } from '../../src/cluster/scheduler/standalone-scheduler.ts'
import { testCluster } from '../support/test-cluster.ts'

test('always-allowed paths need no authorization, all others do', async (t) => {
  const { kubeconfigFile } = await testCluster(t, { controllers: false })
  const scheduler = await startStandaloneScheduler({
    kubeconfig: kubeconfigFile,
    leaderElection: { leaderElect: false },
    bindAddress: '127.0.0.1',
    port: 0,
    authorizationAlwaysAllowPaths: ['/metrics'],
    log: () => {},
  })
  t.after(() => scheduler.stop())
  const status = async (path: string): Promise<number> => {
    const [answer] = await once(
      request({ port: scheduler.port, path, rejectUnauthorized: false, agent: false }).end(),
      'response',
    )
    return answer.resume().statusCode
  }
  assert.deepEqual([await status('/metrics'), await status('/other')], [200, 403])
})
