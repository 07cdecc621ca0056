/** RBAC in kubectl. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { clientOf, json } from '../../support/api-client.ts'
import { serve } from '../../support/api-server.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { testCluster } from '../../support/test-cluster.ts'

const [newest] = installedKubectls().toReversed()

async function kubectl(t: Parameters<typeof testCluster>[0]) {
  const cluster = await testCluster(t)
  return { cluster, kubectl: new Kubectl(newest!, cluster.kubeconfigFile, cluster.folder) }
}

test('kubectl creates roles and bindings, and checks permissions', async (t) => {
  const { kubectl: k } = await kubectl(t)
  await k.ok(
    'create role pod-reader --verb=get,list --resource=pods,pods/log',
    'role.rbac.authorization.k8s.io/pod-reader created\n',
  )
  await k.ok('create rolebinding read --role=pod-reader --user=jane --group=devs --serviceaccount=default:robot')
  await k.ok('auth can-i list pods --as jane', 'yes\n')
  await k.ok('auth can-i get pods/log --as jane', 'yes\n')
  await k.fails('auth can-i list pods --as jane -A', '')
  await k.fails('auth can-i delete pods --as jane', '')
  await k.ok('auth can-i list pods --as bob --as-group devs', 'yes\n')
  await k.ok('auth can-i list pods --as system:serviceaccount:default:robot', 'yes\n')
  await k.ok('auth can-i get /version --as jane', 'yes\n')
  await k.fails('auth can-i get /metrics --as jane', '')
  await k.ok("auth can-i '*' '*' -A", 'yes\n')
  await k.fails(
    'get pods --as jane -n kube-system',
    /pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "kube-system"/,
  )
  const list = await k.ok('auth can-i --list --as jane')
  assert.match(list, /^pods +\[\] +\[\] +\[get list\]$/m)
  assert.match(list, /^pods\/log +\[\] +\[\] +\[get list\]$/m)
  assert.match(list, /^selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]$/m)
  assert.match(list, /\[\/healthz\] +\[\] +\[get\]$/m)
})

test('kubectl auth reconcile adds missing rules and subjects', async (t) => {
  const { cluster, kubectl: k } = await kubectl(t)
  await k.ok('create role r --verb=get --resource=pods')
  await k.ok('create rolebinding b --role=r --user=jane')
  const file = join(cluster.folder, 'rbac.yaml')
  writeFileSync(
    file,
    `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: default}
rules: [{apiGroups: [""], resources: [services], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
`,
  )
  await k.ok(`auth reconcile -f ${file}`, /role\.rbac\.authorization\.k8s\.io\/r reconciled/)
  for (const user of ['jane', 'bob']) {
    await k.ok(`auth can-i get pods --as ${user}`, 'yes\n')
    await k.ok(`auth can-i list services --as ${user}`, 'yes\n')
  }
})

test('aggregated roles can be created by administrators only', async (t) => {
  const { kubectl: k } = await kubectl(t)
  await k.ok(
    'create clusterrole gather --aggregation-rule=team=shop',
    'clusterrole.rbac.authorization.k8s.io/gather created\n',
  )
  await k.ok('create clusterrole writer --verb=get,create,update,patch --resource=clusterroles')
  await k.ok('create clusterrolebinding writer --clusterrole=writer --user=jane')
  await k.fails(
    'create clusterrole grab --aggregation-rule=team=shop --as jane',
    /must have cluster-admin privileges to use the aggregationRule/,
  )
  await k.fails(
    'create clusterrole more --verb=get --resource=secrets --as jane',
    new RegExp(
      String.raw`attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[` +
        String.raw`""\], Resources:\["secrets"\], ` +
        String.raw`Verbs:\["get"\]\}`,
    ),
  )
})

test('default roles are restored at the next start', async (t) => {
  const store = memoryStore()
  t.after(() => store.close())
  const path = '/apis/rbac.authorization.k8s.io/v1'
  const first = await serve(t, store)
  const before = clientOf(t, 'HTTP/1.1', first)
  const patch = (name: string, body: object) =>
    before.request('PATCH', `${path}/${name}`, { body, headers: { 'content-type': 'application/merge-patch+json' } })
  await patch('clusterroles/system:basic-user', { rules: [] })
  await patch('clusterroles/system:discovery', {
    rules: [],
    metadata: { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
  })
  await patch('clusterrolebindings/system:discovery', { subjects: [] })
  await before.request('DELETE', `${path}/clusterroles/view`)
  const untouched = json(await before.request('GET', `${path}/clusterroles/edit`)).metadata.resourceVersion
  await first.stop()
  const after = clientOf(t, 'HTTP/1.1', await serve(t, store))
  const read = async (name: string) =>
    json<{ rules?: unknown[]; subjects?: { name: string }[]; metadata: { resourceVersion: string } }>(
      await after.request('GET', `${path}/${name}`),
    )
  assert.ok((await read('clusterroles/system:basic-user')).rules!.length > 0)
  assert.equal((await read('clusterroles/system:discovery')).rules?.length ?? 0, 0)
  assert.deepEqual(
    (await read('clusterrolebindings/system:discovery')).subjects?.map(({ name }) => name),
    ['system:authenticated'],
  )
  assert.ok((await read('clusterroles/view')).rules!.length > 0)
  assert.equal((await read('clusterroles/edit')).metadata.resourceVersion, untouched)
})
