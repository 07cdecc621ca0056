/**
 * `cluster.user()`: tests of what somebody may not do, as the suites of operators write them, and what `t8s why can-i`
 * says to it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { testCluster } from '../support/test-cluster.ts'
import { repository } from '../up/t8s-process.ts'
import { binding, rbac } from './users.ts'

test('users of a cluster may do what their groups are bound to, and nobody else’s kubeconfig makes them', async (t) => {
  const cluster = await testCluster(t)
  await cluster.call('POST', `${rbac}/namespaces/default/roles`, {
    metadata: { name: 'pod-reader' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
  })
  const readers = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'readers' }
  await cluster.call('POST', `${rbac}/namespaces/default/rolebindings`, binding('read', 'Role', 'pod-reader', readers))
  const api = async (name: string, groups: readonly string[] = []) => {
    const config = new KubeConfig()
    config.loadFromString((await cluster.user({ name, groups })).kubeconfigYaml)
    return config.makeApiClient(CoreV1Api)
  }
  const refused = async (call: Promise<unknown>) =>
    JSON.parse(
      (
        (await call.then(
          () => assert.fail('was allowed'),
          (error) => error,
        )) as { body: string }
      ).body,
    )
  const jane = await api('jane', ['readers'])
  assert.deepEqual((await jane.listNamespacedPod({ namespace: 'default' })).items, [])
  const elsewhere = await refused(jane.listNamespacedPod({ namespace: 'kube-system' }))
  assert.deepEqual(
    [elsewhere.code, elsewhere.message],
    [403, 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "kube-system"'],
  )
  const bob = await api('bob')
  assert.equal((await refused(bob.listNamespacedPod({ namespace: 'default' }))).code, 403)
  // Names of JavaScript are names.
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const odd = await api(name, ['__proto__', 'hasOwnProperty'])
    assert.equal(
      (await refused(odd.listNamespacedPod({ namespace: 'default' }))).message,
      `pods is forbidden: User "${name}" cannot list resource "pods" in API group "" in the namespace "default"`,
    )
  }
})

test('t8s why can-i tells of a user of the cluster what is allowed and what is missing', async (t) => {
  const cluster = await testCluster(t)
  await cluster.call(
    'POST',
    `${rbac}/namespaces/default/rolebindings`,
    binding('look', 'ClusterRole', 'view', { kind: 'Group', name: 'readers' }),
  )
  const why = async (file: string, ...words: readonly string[]) => {
    const child = spawn(join(repository, 't8s'), ['why', 'can-i', ...words], {
      env: { ...process.env, KUBECONFIG: file },
    })
    const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, 'close')])
    return { code: child.exitCode, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }
  }
  const yes = await why(cluster.kubeconfigFile, 'jane', 'list', 'pods', '-n', 'default', '--as-group', 'readers')
  assert.equal(yes.code, 0, yes.stderr)
  assert.match(yes.stdout, /^yes: [\s\S]*RoleBinding "look\/default" of ClusterRole "view" to Group "readers"/)
  const no = await why(cluster.kubeconfigFile, 'jane', 'get', 'secrets', '-n', 'default', '--as-group', 'readers')
  assert.equal(no.code, 1)
  assert.match(no.stdout, /^no: /)
  // Who may not read roles learns that, and no more.
  const file = join(cluster.folder, 'jane')
  writeFileSync(file, (await cluster.user({ name: 'jane' })).kubeconfigYaml)
  const blind = await why(file, 'jane', 'list', 'pods', '-n', 'default')
  assert.equal(blind.code, 1)
  assert.match(blind.stdout + blind.stderr, /forbidden|may not/i)
})
