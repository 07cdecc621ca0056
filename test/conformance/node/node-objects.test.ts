/**
 * Tests of the conformance suite for objects that pods use
 * (`test/e2e/common/node/{configmap,secrets,lease,podtemplates}.go`, `common/storage`, `node/node_lifecycle.go`).
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ConfigMap, Lease, Node, PodTemplate, Secret } from '../../../src/client/kinds.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { names, Requests, refused } from '../support/requests.ts'

const cluster = testCluster({ after }, { controllers: ['serviceaccount-controller', 'node-lifecycle-controller'] })
const requests = async (namespace: string): Promise<Requests> => Requests.in(await cluster, namespace)

test('ConfigMap should fail to create ConfigMap with empty key', async () => {
  const api = await requests('empty-config-key')
  const message = await refused(
    422,
    api.post(`${api.core}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { '': 'value-1' },
    }),
  )
  assert.match(message, /data\[\]: Invalid value: \\"\\": a valid config key must consist of alphanumeric characters/)
})

test('Secrets should fail to create secret due to empty secret key', async () => {
  const api = await requests('empty-secret-key')
  await refused(
    422,
    api.post(`${api.core}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      data: { '': 'dmFsdWUtMQo=' },
    }),
  )
})

test('ConfigMap should run through a ConfigMap lifecycle', async () => {
  const api = await requests('config-map-life')
  const path = `${api.core}/configmaps`
  const metadata = { name: 'test-configmap', creationTimestamp: null, labels: { 'test-configmap-static': 'true' } }
  await api.post(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { valueName: 'value' } })
  const { data } = await api.get<ConfigMap>(`${path}/test-configmap`)
  assert.deepEqual(data, { valueName: 'value' })
  const patch = {
    metadata: { creationTimestamp: null, labels: { 'test-configmap': 'patched' } },
    data: { valueName: 'value1' },
  }
  await api.patch(`${path}/test-configmap`, patch, 'strategic')
  const [found, ...more] = await api.list<ConfigMap>('/api/v1/configmaps?labelSelector=test-configmap%3Dpatched')
  assert.equal(more.length, 0)
  assert.deepEqual(
    [found?.metadata.labels, found?.data],
    [{ 'test-configmap-static': 'true', 'test-configmap': 'patched' }, { valueName: 'value1' }],
  )
  await api.delete(`${path}?labelSelector=test-configmap-static%3Dtrue`)
  assert.deepEqual(await api.list(`${path}?labelSelector=test-configmap-static%3Dtrue`), [])
})

test('ConfigMap should update ConfigMap successfully', async () => {
  const api = await requests('config-map-update')
  const path = `${api.core}/configmaps`
  await api.post(path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  // Without a resourceVersion it overwrites the current object.
  await api.put(`${path}/a`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { data: 'value' } })
  assert.deepEqual((await api.get<ConfigMap>(`${path}/a`)).data, { data: 'value' })
})

test('Secrets should patch a secret', async () => {
  const api = await requests('secret-patch')
  const path = `${api.core}/secrets`
  const metadata = { name: 'test-secret', creationTimestamp: null, labels: { 'testsecret-constant': 'true' } }
  await api.post(path, { apiVersion: 'v1', kind: 'Secret', metadata, data: { key: 'dmFsdWU=' }, type: 'Opaque' })
  assert.ok(names(await api.list('/api/v1/secrets?labelSelector=testsecret-constant%3Dtrue')).includes('test-secret'))
  const patch = { metadata: { labels: { testsecret: 'true' } }, data: { key: 'dmFsdWUx' } }
  await api.patch(`${path}/test-secret`, patch, 'strategic')
  const { data } = await api.get<Secret>(`${path}/test-secret`)
  assert.deepEqual(data, { key: 'dmFsdWUx' })
  await api.delete(`${path}?labelSelector=testsecret%3Dtrue`)
  assert.deepEqual(await api.list('/api/v1/secrets?labelSelector=testsecret-constant%3Dtrue'), [])
})

for (const [kind, plural, before, after] of [
  ['ConfigMap', 'configmaps', 'value-1', 'value-2'],
  ['Secret', 'secrets', 'dmFsdWUtMQ==', 'dmFsdWUtMg=='],
] as const)
  test(`${kind === 'Secret' ? 'Secrets' : kind} should be immutable if \`immutable\` field is set`, async () => {
    const api = await requests(`immutable-${plural}`)
    const path = `${api.core}/${plural}/immutable`
    await api.post(`${api.core}/${plural}`, {
      apiVersion: 'v1',
      kind,
      metadata: { name: 'immutable' },
      data: { 'data-1': before },
    })
    const change = (fields: object) => api.update<ConfigMap | Secret>(path, (object) => ({ ...object, ...fields }))
    await change({ data: { 'data-1': before, 'data-4': after } })
    await change({ immutable: true })
    assert.match(
      await refused(422, change({ data: { 'data-1': after } })),
      /data: Forbidden: field is immutable when `immutable` is set/,
    )
    assert.match(
      await refused(422, change({ immutable: false })),
      /immutable: Forbidden: field is immutable when `immutable` is set/,
    )
    await refused(422, change({ immutable: undefined }))
    const labelled = await api.update(path, (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { label1: 'value1' } },
    }))
    assert.deepEqual(labelled.metadata.labels, { label1: 'value1' })
    await api.delete(path)
    await api.gone(path)
  })

test('Lease lease API should be available', async () => {
  const api = await requests('leases')
  const path = `${api.group('coordination.k8s.io/v1')}/leases`
  const spec = {
    holderIdentity: 'holder',
    leaseDurationSeconds: 30,
    acquireTime: '2017-09-19T13:49:16.000000Z',
    renewTime: '2017-09-19T13:49:21.000000Z',
    leaseTransitions: 0,
  }
  await api.post(path, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'lease' }, spec })
  assert.deepEqual((await api.get<Lease>(`${path}/lease`)).spec, spec)
  const next = {
    holderIdentity: 'holder2',
    leaseDurationSeconds: 60,
    acquireTime: '2017-09-19T13:50:16.000000Z',
    renewTime: '2017-09-19T13:50:21.000000Z',
    leaseTransitions: 1,
  }
  await api.update<Lease>(`${path}/lease`, (lease) => ({ ...lease, spec: next }))
  assert.deepEqual((await api.get<Lease>(`${path}/lease`)).spec, next)
  const patched = {
    holderIdentity: 'holder3',
    leaseDurationSeconds: 120,
    acquireTime: '2017-09-19T13:51:16.000005Z',
    renewTime: '2017-09-19T13:51:21.000005Z',
    leaseTransitions: 2,
  }
  await api.patch(`${path}/lease`, { spec: patched }, 'strategic')
  assert.deepEqual((await api.get<Lease>(`${path}/lease`)).spec, patched)
  await api.post(path, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'lease-2', labels: { deletecollection: 'true' } },
    spec,
  })
  assert.equal((await api.list(path)).length, 2)
  await api.delete(`${path}?labelSelector=deletecollection%3Dtrue`)
  assert.deepEqual(names(await api.list(path)), ['lease'])
  await api.delete(`${path}/lease`)
  await refused(404, api.get(`${path}/lease`))
})

const podTemplate = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'PodTemplate',
  metadata: { name, labels },
  template: {
    metadata: { creationTimestamp: null },
    spec: { containers: [{ name: 'nginx', image: 'nginx:1', resources: {} }] },
  },
})

test('PodTemplates should run the lifecycle of PodTemplates', async () => {
  const api = await requests('pod-template-life')
  const path = `${api.core}/podtemplates`
  const everywhere = () => api.list('/api/v1/podtemplates?labelSelector=podtemplate-static%3Dtrue')
  assert.deepEqual(await everywhere(), [])
  await api.post(path, podTemplate('nginx-pod-template', { 'podtemplate-static': 'true' }))
  assert.equal((await api.get(`${path}/nginx-pod-template`)).metadata.name, 'nginx-pod-template')
  await api.patch(`${path}/nginx-pod-template`, { metadata: { labels: { podtemplate: 'patched' } } }, 'strategic')
  assert.equal((await api.get(`${path}/nginx-pod-template`)).metadata.labels?.podtemplate, 'patched')
  await api.delete(`${path}/nginx-pod-template`)
  assert.deepEqual(await everywhere(), [])
})

test('PodTemplates should delete a collection of pod templates', async () => {
  const api = await requests('pod-templates')
  const set = `${api.core}/podtemplates?labelSelector=podtemplate-set%3Dtrue`
  for (const name of ['test-podtemplate-1', 'test-podtemplate-2', 'test-podtemplate-3'])
    await api.post(`${api.core}/podtemplates`, podTemplate(name, { 'podtemplate-set': 'true' }))
  assert.equal((await api.list(set)).length, 3)
  await api.delete(set)
  assert.deepEqual(await api.list(set), [])
})

test('PodTemplates should replace a pod template', async () => {
  const api = await requests('pod-template-replaced')
  const path = `${api.core}/podtemplates`
  await api.post(path, podTemplate('a', {}))
  const updated = await api.update<PodTemplate>(`${path}/a`, (template) => ({
    ...template,
    metadata: { ...template.metadata, annotations: { updated: 'true' } },
  }))
  assert.equal(updated.metadata.annotations?.updated, 'true')
})

test('Node Lifecycle should run through the lifecycle of a node', async () => {
  const api = await requests('node-life')
  const name = 'e2e-fake-node'
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'E2E',
    message: 'Set by a test',
    lastHeartbeatTime: null,
    lastTransitionTime: null,
  }
  const created = await api.post<Node>('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, creationTimestamp: null },
    spec: { unschedulable: true },
    status: {
      phase: 'Running',
      conditions: [condition],
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      nodeInfo: {},
    },
  })
  assert.equal(created.status?.conditions?.[0]?.reason, 'E2E')
  const path = `/api/v1/nodes/${name}`
  assert.equal((await api.get(path)).metadata.name, name)
  const patched = await api.patch(path, { metadata: { labels: { [name]: 'patched' } } }, 'strategic')
  assert.equal(patched.metadata.labels?.[name], 'patched')
  assert.equal((await api.list(`/api/v1/nodes?labelSelector=${name}%3Dpatched`)).length, 1)
  const updated = await api.update(path, (node) => ({
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, [name]: 'updated' } },
  }))
  assert.equal(updated.metadata.labels?.[name], 'updated')
  await api.delete(path)
  await api.gone(path)
})
