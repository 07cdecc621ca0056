/** Tests of `kubectl get componentstatuses`: a cluster shows the components in its process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const rows = async ({ kubeconfigFile, folder }: TestCluster): Promise<string[]> => {
  const kubectl = new Kubectl(installedKubectls().at(-1)!, kubeconfigFile, folder)
  return (await kubectl.ok('get componentstatuses'))
    .trim()
    .split('\n')
    .map((row) => row.trim().replace(/ {2,}/g, '|'))
}

const healthy = ['controller-manager|Healthy|ok', 'etcd-0|Healthy|ok', 'scheduler|Healthy|ok']

for (const onThreads of [false, true]) {
  test(`components ${onThreads ? 'on threads' : 'in the thread of the server'} are healthy`, async (t) => {
    const cluster = await testCluster(t, { scheduler: { onThread: onThreads }, controllersThread: onThreads })
    const expected = ['NAME|STATUS|MESSAGE|ERROR', ...healthy]
    let found: readonly string[] = []
    // A thread that is just starting may not answer in time.
    await waitFor('healthy components', async () => {
      const [titles = '', ...components] = await rows(cluster)
      found = [titles, ...components.sort()]
      return isDeepStrictEqual(found, expected)
    }).catch(() => assert.deepEqual(found, expected))
  })
}

test('a component outside of the process is probed at its default port', async (t) => {
  const cluster = await testCluster(t, { scheduler: false })
  const { conditions } = (await cluster.call('GET', '/api/v1/componentstatuses/scheduler')) as unknown as {
    conditions: { message: string }[]
  }
  assert.match(
    conditions[0]!.message,
    /^(ok|Get "https:\/\/127\.0\.0\.1:10259\/healthz": dial tcp 127\.0\.0\.1:10259: connect: connection refused)$/,
  )
})
