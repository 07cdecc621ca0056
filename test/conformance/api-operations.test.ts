/**
 * Tests of the conformance suite named "should support … API operations" outside of `test/e2e/apimachinery`: networks,
 * nodes, storage and devices.
 */
import { test } from 'node:test'
import { type ApiUnderTest, supportsOperations } from './support/api-operations.ts'
import { conformanceClients } from './support/clients.ts'

const clients = conformanceClients({ controllers: [] })

const namespace = 'default'
const requests = { devices: { requests: [{ name: 'req-0', exactly: { deviceClassName: 'example-class' } }] } }

const apis: Readonly<Record<string, ApiUnderTest>> = {
  'Ingress API should support creating Ingress API operations': {
    groupVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    plural: 'ingresses',
    namespace,
    object: () => ({ spec: { defaultBackend: { service: { name: 'default-backend', port: { name: 'http' } } } } }),
    patch: { spec: { ingressClassName: 'patched' } },
  },
  'IngressClass API should support creating IngressClass API operations': {
    groupVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    plural: 'ingressclasses',
    object: () => ({ spec: { controller: 'example.com/controller' } }),
  },
  'EndpointSlice should support creating EndpointSlice API operations': {
    groupVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    namespace,
    object: () => ({ addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4', '5.6.7.8'] }] }),
  },
  'RuntimeClass should support RuntimeClasses API operations': {
    groupVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    plural: 'runtimeclasses',
    object: () => ({ handler: 'example-handler' }),
  },
  'CSIStorageCapacity should support CSIStorageCapacities API operations': {
    groupVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    namespace,
    object: () => ({
      nodeTopology: { matchLabels: { 'kubernetes.io/hostname': 'example' } },
      storageClassName: 'example',
      capacity: '1Gi',
    }),
    patch: { capacity: '2Gi' },
  },
  'VolumeAttributesClass should run through the lifecycle of a VolumeAttributesClass': {
    groupVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    plural: 'volumeattributesclasses',
    object: () => ({ driverName: 'e2e-fake-csi-driver', parameters: { foo: 'bar' } }),
  },
  '[DRA] CRUD Tests resource.k8s.io/v1 DeviceClass': {
    groupVersion: 'resource.k8s.io/v1',
    kind: 'DeviceClass',
    plural: 'deviceclasses',
    object: () => ({ spec: { selectors: [{ cel: { expression: 'device.driver == "a.example.com"' } }] } }),
    patch: { spec: { selectors: [{ cel: { expression: 'device.driver == "b.example.com"' } }] } },
    update: { spec: { selectors: [{ cel: { expression: 'device.driver == "c.example.com"' } }] } },
  },
  '[DRA] CRUD Tests resource.k8s.io/v1 ResourceClaim': {
    groupVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    plural: 'resourceclaims',
    namespace,
    object: () => ({ spec: requests }),
  },
  '[DRA] CRUD Tests resource.k8s.io/v1 ResourceClaimTemplate': {
    groupVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    plural: 'resourceclaimtemplates',
    namespace,
    object: () => ({ spec: { spec: requests } }),
  },
  '[DRA] CRUD Tests resource.k8s.io/v1 ResourceSlice': {
    groupVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    plural: 'resourceslices',
    object: (n) => ({
      spec: {
        driver: 'dra.example.com',
        nodeName: 'a-node',
        pool: { name: `pool-${n}`, generation: 0, resourceSliceCount: 1 },
        devices: [{ name: 'd' }],
      },
    }),
    patch: { spec: { pool: { generation: 1 } } },
    update: { spec: { pool: { generation: 2 } } },
  },
  'Lease lease API should be available': {
    groupVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    plural: 'leases',
    namespace,
    object: () => ({ spec: { holderIdentity: 'holder', leaseDurationSeconds: 30, leaseTransitions: 0 } }),
    patch: { spec: { leaseDurationSeconds: 60 } },
    update: { spec: { holderIdentity: 'holder2', leaseTransitions: 1 } },
  },
}

for (const [name, api] of Object.entries(apis)) test(name, () => supportsOperations(clients(), api))
