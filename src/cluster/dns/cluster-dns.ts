/** The objects of a cluster's DNS: the Service `kube-dns`, its EndpointSlice, and the rights of the server. */
import { isIPv6 } from 'node:net'
import type { ComponentRights } from '../../apiserver/bootstrap/roles/component-rights.ts'
import { endpointSlices, type Service, services } from '../../client/kinds.ts'
import { apiVersionOf } from '../../client/resource.ts'
import { isAlreadyExists } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { addressAt, parseCidr } from '../../lib/cidr.ts'

/** The user of the server. */
export const dnsUser = 'system:coredns'
export const dnsNamespace = 'kube-system'
export const dnsService = 'kube-dns'
/** The EndpointSlice that the server writes. */
export const dnsSlice = 'kube-dns-t8s'

/** As kubeadm's. */
const offset = 10

const labels = {
  'k8s-app': 'kube-dns',
  'kubernetes.io/cluster-service': 'true',
  'kubernetes.io/name': 'CoreDNS',
}

/** The address of DNS in a range of Services: the tenth. Undefined for a range that has none. */
export function dnsAddress(serviceRange: string): string | undefined {
  const range = parseCidr(serviceRange)
  if (!range) return undefined
  const size = (range.family === 4 ? 32 : 128) - range.prefix
  return size >= 4 ? addressAt(range, offset) : undefined
}

/**
 * Creates the objects that are missing. Returns false if the cluster has a DNS of its own: a Service `kube-dns` that
 * selects pods. Rejects if the address belongs to another Service.
 */
export async function prepareDns(client: RestClient, address: string): Promise<boolean> {
  const present = await client.find(services, dnsNamespace, dnsService)
  if (present?.spec?.selector && Object.keys(present.spec.selector).length > 0) return false
  const slice = {
    ...sliceKind,
    metadata: sliceMetadata,
    addressType: isIPv6(address) ? 'IPv6' : 'IPv4',
    endpoints: [],
    ports: [],
  }
  if (!present) await client.create(services, service(address)).catch(ignoreExisting)
  await client.create(endpointSlices, slice).catch(ignoreExisting)
  return true
}

const sliceKind = { apiVersion: apiVersionOf(endpointSlices), kind: endpointSlices.kind }

const sliceMetadata = {
  namespace: dnsNamespace,
  name: dnsSlice,
  labels: {
    'kubernetes.io/service-name': dnsService,
    'endpointslice.kubernetes.io/managed-by': 'typernetes',
  },
}

const service = (clusterIP: string): Service => ({
  apiVersion: apiVersionOf(services),
  kind: services.kind,
  metadata: {
    namespace: dnsNamespace,
    name: dnsService,
    labels,
    annotations: { 'prometheus.io/port': '9153', 'prometheus.io/scrape': 'true' },
  },
  spec: {
    clusterIP,
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
      { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 9153 },
    ],
  },
})

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error
}

/** The server reads what DNS answers from, and writes its own EndpointSlice. */
export const dnsRights: ComponentRights = {
  user: dnsUser,
  rules: [
    { apiGroups: [''], resources: ['services', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ],
  own: {
    namespace: dnsNamespace,
    rules: [
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        resourceNames: [dnsSlice],
        verbs: ['get', 'update', 'patch'],
      },
    ],
  },
}
