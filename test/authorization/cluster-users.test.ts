/** `cluster.user()`, for tests of missing permissions in operators' suites, and `t8s why can-i` for these users. */
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

test('users of a cluster have the permissions of their groups', async (t) => {
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
  // Names with a meaning in JavaScript are valid.
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const odd = await api(name, ['__proto__', 'hasOwnProperty'])
    assert.equal(
      (await refused(odd.listNamespacedPod({ namespace: 'default' }))).message,
      `pods is forbidden: User "${name}" cannot list resource "pods" in API group "" in the namespace "default"`,
    )
  }
})

test('t8s why can-i explains granted and missing permissions of a user', async (t) => {
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
  // A user who may not read roles gets only this answer.
  const file = join(cluster.folder, 'jane')
  writeFileSync(file, (await cluster.user({ name: 'jane' })).kubeconfigYaml)
  const blind = await why(file, 'jane', 'list', 'pods', '-n', 'default')
  assert.equal(blind.code, 1)
  assert.match(blind.stdout + blind.stderr, /forbidden|may not/i)
})
