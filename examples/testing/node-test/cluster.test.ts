/** A test file for node:test: one cluster, which is as new before each test. `node --test` runs it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { configMaps, connectTo, deployments, pods } from 'typernetes/client'
import { startTestCluster, type TestCluster } from 'typernetes/test'

let cluster: TestCluster
before(async () => {
  cluster = await startTestCluster({ nodes: 1, scheduler: true, trace: 'on-failure' })
})
after(() => cluster.stop())
beforeEach((t) => cluster.reset(t))

test('a Deployment becomes Available', async (t) => {
  const namespace = await cluster.namespace(t)
  await namespace.apply(new URL('web.yaml', import.meta.url))
  await namespace.waitFor('deployment/web', 'Available')
  await namespace.waitFor('deployment/web', 'jsonpath={.status.readyReplicas}=2')
  assert.equal((await cluster.api.list(pods, { namespace: namespace.name })).items.length, 2)
})

test('custom resources and their definition are applied together', async () => {
  await cluster.apply(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: boats.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: boats, kind: Boat }
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`)
  const boat = { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'dinghy' }, status: { afloat: true } }
  await cluster.apply(boat, { status: true })
  await cluster.waitFor('boat/dinghy', (object) => object?.metadata.generation === 1)
})

test('a user has the rights of its roles', async () => {
  await cluster.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: viewers }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: viewers }]
`)
  const jane = await cluster.user({ name: 'jane', groups: ['viewers'] })
  assert.deepEqual((await jane.api.list(pods)).items, [])
  await assert.rejects(jane.api.delete(pods, 'default', 'web'), { code: 403 })
})

test('programs get a kubeconfig', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
  try {
    cluster.writeKubeconfig(join(folder, 'admin'))
    const client = await connectTo({ kubeconfig: join(folder, 'admin') })
    assert.match((await client.serverVersion()).gitVersion, /^v1\./)
    client.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the code under test retries after a conflict', async () => {
  await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'counter' }, data: { at: '0' } })
  const conflicts = await cluster.fault({ verb: 'update', resource: 'configmaps', code: 409, times: 2 })
  await increment()
  assert.equal(await conflicts.hits(), 2)
  assert.equal((await cluster.api.get(configMaps, 'default', 'counter')).data?.at, '1')
})

/** The code under test. */
async function increment(): Promise<void> {
  for (;;) {
    const counter = await cluster.api.get(configMaps, 'default', 'counter')
    try {
      await cluster.api.update(configMaps, { ...counter, data: { at: `${Number(counter.data?.at) + 1}` } })
      return
    } catch (error) {
      if ((error as { code?: number }).code !== 409) throw error
    }
  }
}

test('the code under test sends one request', async () => {
  await cluster.api.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'default' },
  })
  const requests = await cluster.requests({ resource: 'configmaps', bodies: true })
  assert.deepEqual(
    requests.map(({ verb, name, code, userAgent }) => [verb, name, code, userAgent]),
    [['create', 'a', 201, 't8s']],
  )
})

test('a snapshot is restored within milliseconds', async () => {
  await cluster.apply(new URL('web.yaml', import.meta.url))
  await cluster.waitFor('deployment/web', 'Available')
  const snapshot = await cluster.snapshot()
  await cluster.api.delete(deployments, 'default', 'web')
  await cluster.waitFor('deployment/web', 'delete')
  await cluster.restore(snapshot)
  await cluster.waitFor('deployment/web', 'Available')
})
