/** The Service `kubernetes` and its endpoints, on a store in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../../api/core/service/index.ts'
import type { KubeObject, Unstructured } from '../../../machinery/object.ts'
import { memoryStore } from '../../../storage/memory/index.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import { ip, ServiceWriter } from '../service-writer.fixture.ts'

type Endpoints = [{ addresses: [{ ip: string }]; ports: [{ port: number }] }]
interface EndpointSlice {
  readonly endpoints: [{ addresses: string[] }]
  readonly ports: [{ port: number }]
}

test('the Service kubernetes has the current address of the server after a restart', async (t) => {
  const store = memoryStore()
  /** Starts a server, and returns the fields of the Service and its endpoints. */
  const start = async (bindAddress: string, port: number, clusterIpRange: string) => {
    const writer = new ServiceWriter(t, { store, clusterIpRange })
    await writer.allocation.begin({ bindAddress, port, context: writer.context('') })
    assert.deepEqual(writer.logged, [])
    const get = async (key: string, namespace: string): Promise<Unstructured> => {
      const resource = writer.find(key)
      return (await writer.registry.get(resource, resource.key(namespace, 'kubernetes')))!.parse<Unstructured>()
    }
    const service = (await get('v1/services', 'default')) as Service
    const [subset] = (await get('v1/endpoints', 'default')).subsets as Endpoints
    const slice = (await get('discovery.k8s.io/v1/endpointslices', 'default')) as unknown as EndpointSlice
    const { cidrs } = (await get('networking.k8s.io/v1/servicecidrs', '')).spec as { cidrs: string[] }
    return {
      clusterIP: ip(service),
      targetPort: service.spec?.ports?.[0]?.targetPort,
      endpoint: `${subset.addresses[0].ip}:${subset.ports[0].port}`,
      slice: `${slice.endpoints[0].addresses}:${slice.ports[0].port}`,
      cidrs,
    }
  }
  const first = await start('192.0.2.1', 6443, '10.0.0.0/24')
  assert.deepEqual(first, {
    clusterIP: '10.0.0.1',
    targetPort: 6443,
    endpoint: '192.0.2.1:6443',
    slice: '192.0.2.1:6443',
    cidrs: ['10.0.0.0/24'],
  })
  const moved = { ...first, targetPort: 7443, endpoint: '192.0.2.2:7443', slice: '192.0.2.2:7443' }
  assert.deepEqual(await start('192.0.2.2', 7443, '10.0.0.0/24'), moved)
  const revision = await store.currentRevision()
  assert.deepEqual(await start('192.0.2.2', 7443, '10.0.0.0/24'), moved)
  assert.equal(await store.currentRevision(), revision)
  // Another range is used immediately, even if a finalizer keeps the old ServiceCIDR.
  const writer = new ServiceWriter(t, { store })
  const context = {
    ...writer.context('kubernetes'),
    resource: writer.find('networking.k8s.io/v1/servicecidrs'),
    namespace: '',
  }
  const withFinalizer = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, finalizers: ['example.com/hold'] },
  })
  await updateObject(context, { startsFromLive: true, change: (object) => ({ object: withFinalizer(object!) }) })
  assert.deepEqual(await start('192.0.2.2', 7443, '10.9.0.0/16'), {
    ...moved,
    clusterIP: '10.9.0.1',
    cidrs: ['10.9.0.0/16'],
  })
})
