/** Tests of the conformance suite for the APIs of Service addresses (`test/e2e/network/service_cidrs.go`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NetworkingV1Api } from '@kubernetes/client-node'
import { waitFor } from '../../support/wait-for.ts'
import { conformanceClients, merging } from '../support/clients.ts'

const clients = conformanceClients({ controllers: ['service-cidr-controller'] })
const api = () => clients().config.makeApiClient(NetworkingV1Api)
const patch = { metadata: { annotations: { patched: 'true' } } }
const updated = <T extends { metadata?: { annotations?: Record<string, string> } }>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata?.annotations, updated: 'true' } },
})

test('ServiceCIDR and IPAddress API should support ServiceCIDR API operations', async () => {
  const name = 'kubernetes'
  await api().readServiceCIDR({ name })
  assert.equal((await api().patchServiceCIDR({ name, body: patch }, merging)).metadata?.annotations?.patched, 'true')
  await waitFor('no conflict', async () => {
    const body = updated(await api().readServiceCIDR({ name }))
    return (await api().replaceServiceCIDR({ name, body })).metadata?.annotations?.updated === 'true'
  })
  assert.ok((await api().listServiceCIDR()).items.some(({ metadata }) => metadata?.name === name))
})

test('ServiceCIDR and IPAddress API should create ServiceCIDR and use it', async () => {
  const { core } = clients()
  const name = 'test-svc-cidr'
  await api().createServiceCIDR({ body: { metadata: { name }, spec: { cidrs: ['10.196.196.0/24'] } } })
  await waitFor('it to be ready', async () =>
    (await api().readServiceCIDR({ name })).status?.conditions?.some(
      ({ type, status }) => type === 'Ready' && status === 'True',
    ),
  )
  const spec = { clusterIP: '10.196.196.77', type: 'NodePort', ports: [{ port: 80, name: 'http', targetPort: 9376 }] }
  const made = await core.createNamespacedService({
    namespace: 'default',
    body: { metadata: { name: 'cidr1-test' }, spec },
  })
  assert.equal(made.spec?.clusterIP, '10.196.196.77')
  assert.equal((await api().readIPAddress({ name: '10.196.196.77' })).spec?.parentRef.name, 'cidr1-test')
})

test('ServiceCIDR and IPAddress API should support IPAddress API operations', async () => {
  const parentRef = { group: 'mygroup', resource: 'myresources', namespace: 'foo', name: 'bar' }
  const name = '255.255.255.255'
  await api().createIPAddress({ body: { metadata: { name, labels: { type: 'broadcast' } }, spec: { parentRef } } })
  await api().createIPAddress({
    body: { metadata: { name: 'fe80::42:1dff:fe84:f9e2', labels: { type: 'link-local' } }, spec: { parentRef } },
  })
  assert.equal((await api().patchIPAddress({ name, body: patch }, merging)).metadata?.annotations?.patched, 'true')
  const body = updated(await api().readIPAddress({ name }))
  assert.equal((await api().replaceIPAddress({ name, body })).metadata?.annotations?.updated, 'true')
  const labelled = async (type: string) => (await api().listIPAddress({ labelSelector: `type=${type}` })).items.length
  assert.equal(await labelled('broadcast'), 1)
  await api().deleteIPAddress({ name })
  assert.equal(await labelled('broadcast'), 0)
  await api().deleteCollectionIPAddress({ labelSelector: 'type=link-local' })
  assert.equal(await labelled('link-local'), 0)
})
