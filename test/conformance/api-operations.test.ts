/**
 * What the conformance suite asks of one API after another with the same steps (`test/e2e/network/{ingress,ingressclass,service_cidrs}.go`,
 * `common/node/runtimeclass.go`, `storage/csistoragecapacity.go`, `dra`): discovery, then every verb, with a watch that sees all of it.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { KubeObject } from '../../src/machinery/object.ts'
import { apiControllers, testCluster } from '../support/test-cluster.ts'
import { names, Requests, refused } from './requests.ts'

interface Api {
  readonly title: string
  readonly groupVersion: string
  readonly plural: string
  readonly kind: string
  readonly isNamespaced?: boolean
  /** What a new object has beside its metadata. */
  readonly object: (index: number) => object
  /** Names, where they mean something. */
  readonly name?: (index: number) => string
  /** What is patched and put at `/status`. */
  readonly status?: { readonly patched: object; readonly put: object }
}

const ingress = { defaultBackend: { service: { name: 'default-backend', port: { number: 80 } } } }
const loadBalancer = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } })
const parentRef = { group: '', resource: 'services', namespace: 'default', name: 'a-service' }
const devices = { requests: [{ name: 'one', exactly: { deviceClassName: 'a-class' } }] }

const apis: readonly Api[] = [
  {
    title: 'Ingress API should support creating Ingress API operations',
    groupVersion: 'networking.k8s.io/v1',
    plural: 'ingresses',
    kind: 'Ingress',
    isNamespaced: true,
    object: () => ({ spec: ingress }),
    status: { patched: loadBalancer('169.1.1.1'), put: loadBalancer('169.1.1.2') },
  },
  {
    title: 'IngressClass API should support creating IngressClass API operations',
    groupVersion: 'networking.k8s.io/v1',
    plural: 'ingressclasses',
    kind: 'IngressClass',
    object: () => ({ spec: { controller: 'example.com/controller' } }),
  },
  {
    title: 'RuntimeClass should support RuntimeClasses API operations',
    groupVersion: 'node.k8s.io/v1',
    plural: 'runtimeclasses',
    kind: 'RuntimeClass',
    object: (index) => ({ handler: `handler-${index}` }),
  },
  {
    title: 'CSIStorageCapacity should support CSIStorageCapacities API operations',
    groupVersion: 'storage.k8s.io/v1',
    plural: 'csistoragecapacities',
    kind: 'CSIStorageCapacity',
    isNamespaced: true,
    object: () => ({ storageClassName: 'test-storage-class' }),
  },
  {
    title: 'ServiceCIDR and IPAddress API should support ServiceCIDR API operations',
    groupVersion: 'networking.k8s.io/v1',
    plural: 'servicecidrs',
    kind: 'ServiceCIDR',
    object: (index) => ({ spec: { cidrs: [`10.20${index}.0.0/24`] } }),
    status: {
      patched: { conditions: [{ type: 'StatusPatched', status: 'True', reason: 'E2E', message: 'Set by a test', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
      put: { conditions: [{ type: 'StatusUpdated', status: 'True', reason: 'E2E', message: 'Set by a test', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    },
  },
  {
    title: 'ServiceCIDR and IPAddress API should support IPAddress API operations',
    groupVersion: 'networking.k8s.io/v1',
    plural: 'ipaddresses',
    kind: 'IPAddress',
    name: (index) => `192.168.3.${index}`,
    object: () => ({ spec: { parentRef } }),
  },
  {
    title: 'DRA ResourceClass should support DeviceClass API operations',
    groupVersion: 'resource.k8s.io/v1',
    plural: 'deviceclasses',
    kind: 'DeviceClass',
    object: () => ({ spec: {} }),
  },
  {
    title: 'DRA should support ResourceClaim API operations',
    groupVersion: 'resource.k8s.io/v1',
    plural: 'resourceclaims',
    kind: 'ResourceClaim',
    isNamespaced: true,
    object: () => ({ spec: { devices } }),
  },
  {
    title: 'DRA should support ResourceClaimTemplate API operations',
    groupVersion: 'resource.k8s.io/v1',
    plural: 'resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    isNamespaced: true,
    object: () => ({ spec: { spec: { devices } } }),
  },
  {
    title: 'DRA should support ResourceSlice API operations',
    groupVersion: 'resource.k8s.io/v1',
    plural: 'resourceslices',
    kind: 'ResourceSlice',
    object: (index) => ({ spec: { driver: 'dra.example.com', nodeName: 'n', pool: { name: `pool-${index}`, generation: 1, resourceSliceCount: 1 } } }),
  },
  {
    title: 'EndpointSlice should support creating EndpointSlice API operations',
    groupVersion: 'discovery.k8s.io/v1',
    plural: 'endpointslices',
    kind: 'EndpointSlice',
    isNamespaced: true,
    object: () => ({ addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4', '5.6.7.8'] }] }),
  },
]

const cluster = testCluster({ after }, { controllers: apiControllers })

for (const { title, groupVersion, plural, kind, isNamespaced, object, name = (index: number) => `object-${index}`, status } of apis)
  test(title, async () => {
    const api = await Requests.in(await cluster, `${plural}-api`)
    const [group, version] = groupVersion.split('/')
    const test = `${plural}-api`
    const path = isNamespaced ? `${api.group(groupVersion)}/${plural}` : `/apis/${groupVersion}/${plural}`
    const selected = `${path}?labelSelector=test%3D${test}`
    const make = (index: number) => ({ apiVersion: groupVersion, kind, metadata: { name: name(index), labels: { test } }, ...object(index) })

    const { groups } = await api.get<{ groups: { name: string; versions: { version: string }[] }[] }>('/apis')
    assert.ok(groups.some((found) => found.name === group && found.versions.some((one) => one.version === version)))
    const { versions } = await api.get<{ versions: { version: string }[] }>(`/apis/${group}`)
    assert.ok(versions.some((one) => one.version === version))
    const { resources } = await api.get<{ resources: { name: string }[] }>(`/apis/${groupVersion}`)
    for (const resource of [plural, ...(status ? [`${plural}/status`] : [])]) assert.ok(resources.some((one) => one.name === resource))

    const created = await api.post(path, make(1))
    assert.match(await refused(409, api.post(path, make(1))), /"reason":"AlreadyExists"/)
    await api.post(path, make(2))
    const watched = await api.watch(path, { labelSelector: `test=${test}`, resourceVersion: created.metadata.resourceVersion ?? '' })
    try {
      await api.post(path, make(3))
      const at = `${path}/${name(1)}`
      const got = await api.get(at)
      assert.equal(got.metadata.uid, created.metadata.uid)
      assert.equal((await api.list(selected)).length, 3)
      if (isNamespaced) assert.equal((await api.list(`/apis/${groupVersion}/${plural}?labelSelector=test%3D${test}`)).length, 3)

      const patched = await api.patch(at, { metadata: { annotations: { patched: 'true' } } })
      assert.equal(patched.metadata.annotations?.patched, 'true')
      const updated = await api.update(at, (it) => ({ ...it, metadata: { ...it.metadata, annotations: { ...it.metadata.annotations, updated: 'true' } } }))
      assert.deepEqual(updated.metadata.annotations, { patched: 'true', updated: 'true' })
      await watched.next('the addition', ({ type, object }) => type === 'ADDED' && object.metadata.name === name(3))
      await watched.next('the patch', ({ type, object }) => type === 'MODIFIED' && object.metadata.annotations?.patched === 'true')
      await watched.next('the update', ({ type, object }) => type === 'MODIFIED' && object.metadata.annotations?.updated === 'true')

      if (status) {
        const statusOf = (it: KubeObject) => (it as { status?: object }).status
        const told = await api.patch(`${at}/status`, { metadata: { annotations: { patchedstatus: 'true' } }, status: status.patched })
        assert.deepEqual([statusOf(told), told.metadata.annotations?.patchedstatus], [status.patched, 'true'])
        const put = await api.update(at, (it) => ({ ...it, status: status.put }), `${at}/status`)
        assert.deepEqual(statusOf(put), status.put)
        assert.deepEqual(statusOf(await api.get(`${at}/status`)), status.put)
      }

      await api.delete(at)
      await api.gone(at)
      assert.deepEqual(names(await api.list(selected)), [name(2), name(3)])
      await api.delete(selected)
      assert.deepEqual(await api.list(selected), [])
      for (const index of [1, 2, 3]) await watched.next('the deletion', ({ type, object }) => type === 'DELETED' && object.metadata.name === name(index))
    } finally {
      watched.stop()
    }
  })
