/** `t8s why can-i` on a running cluster: prints the bindings that allow an action, or the missing permissions. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test from 'node:test'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'
import { repository } from '../up/t8s-process.ts'
import { binding, rbac, userSubject } from './users.ts'

async function why({ kubeconfigFile }: Pick<TestCluster, 'kubeconfigFile'>, ...words: readonly string[]) {
  const child = spawn(join(repository, 't8s'), ['why', 'can-i', ...words], {
    env: { ...process.env, KUBECONFIG: kubeconfigFile },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [code] = (await once(child, 'close')) as [number]
  return { code, stdout, stderr }
}

test('t8s why can-i prints the bindings that allow an action, or the closest ones and their gaps', async (t) => {
  const cluster = await testCluster(t)
  for (const name of ['shop', 'other']) await cluster.call('POST', '/api/v1/namespaces', { metadata: { name } })
  await cluster.call('POST', `${rbac}/namespaces/shop/roles`, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
  })
  await cluster.call(
    'POST',
    `${rbac}/namespaces/shop/rolebindings`,
    binding('read', 'Role', 'reader', userSubject('jane')),
  )
  await cluster.call(
    'POST',
    `${rbac}/namespaces/other/rolebindings`,
    binding('lost', 'Role', 'gone', userSubject('jane')),
  )
  assert.deepEqual(await why(cluster, 'jane', 'list', 'po', '-n', 'shop'), {
    code: 0,
    stdout:
      'yes: jane may list pods in the namespace shop\n\nAllowed by:\n  RoleBinding "read/shop" of Role "reader" ' +
      'to User "jane"\n    rule: get, list pods\n',
    stderr: '',
  })
  const verb = await why(cluster, 'jane', 'delete', 'pods', '-n', 'shop')
  assert.equal(verb.code, 1)
  assert.match(
    verb.stdout,
    new RegExp(
      String.raw`^no: jane may not delete pods in the namespace shop\n\nThe nearest rul` +
        String.raw`es:\n {2}RoleBinding "read/shop" ` +
        String.raw`of Role "reader" to User "jane"\n {4}has: get, list pods\n {4}lacks: the verb delete\n`,
    ),
  )
  assert.match(verb.stdout, /to grant it: kubectl create rolebinding NAME -n shop --clusterrole=edit --user=jane\n/)
  assert.match((await why(cluster, 'jane', 'get', 'pods/log', '-n', 'shop')).stdout, /lacks: the resource pods\/log\n/)
  const elsewhere = await why(cluster, 'jane', 'list', 'pods', '-n', 'other')
  assert.match(
    elsewhere.stdout,
    /RoleBinding "lost\/other" of Role "gone" to User "jane"\n {4}the role does not exist\n/,
  )
  assert.match(elsewhere.stdout, /applies only in the namespace shop\n/)
  assert.match((await why(cluster, 'jane', 'list', 'nodes', '-n', 'shop')).stdout, /^note: nodes are cluster-scoped/m)
  assert.match(
    (await why(cluster, 'jane', 'get', '/metrics')).stdout,
    /allows it to Group "system:monitoring": jane is not among them\n/,
  )
  assert.equal((await why(cluster, 'x', 'list', 'nodes', '--as-group', 'system:masters')).code, 0)
})

test('t8s why can-i prints a hint for invalid arguments and kubeconfigs', async (t) => {
  const cluster = await testCluster(t)
  const path = await why(cluster, 'jane', 'get', '/metrics', '-n', 'shop')
  assert.deepEqual([path.code, path.stdout], [1, ''])
  assert.match(path.stderr, /^t8s: \/metrics is a path: it has no namespace/)
  assert.match(
    (await why({ kubeconfigFile: '/none' }, 'jane', 'get', 'pods')).stderr,
    /^t8s: there is no kubeconfig at \/none: use --kubeconfig/,
  )
  assert.match((await why(cluster, 'jane', 'get')).stderr, /^t8s: missing required argument 'RESOURCE'/)
  await cluster.stop({ graceMs: 0 })
  assert.match(
    (await why(cluster, 'jane', 'get', 'pods')).stderr,
    /^t8s: cannot reach https:.*is the cluster running\?/,
  )
})
