/** The endpoints that a mapping of a port leads to, or the reason why there are none. */
import type { EndpointSlice, Service } from '../../client/kinds.ts'
import type { Target } from '../forwarder/listener.ts'
import { endpointsOfSlices, portKey } from '../proxy/picture/endpoint.ts'
import type { PortMapping } from './port-mapping.ts'

export interface MappedTargets {
  readonly targets: readonly Target[]
  /** A sentence for people. */
  readonly status: string
}

/** Uses endpoints that terminate if no other serves, as kube-proxy does. */
export function mappedTargets(
  { namespace, service: name, port: wanted, protocol: wantedProtocol }: PortMapping,
  service: Service | undefined,
  slices: Iterable<EndpointSlice>,
): MappedTargets {
  const none = (status: string): MappedTargets => ({ targets: [], status })
  const text = `${namespace}/${name}`
  if (!service) return none(`the Service ${text} does not exist yet: kubectl expose or kubectl apply creates it`)
  const { type, ports = [] } = service.spec ?? {}
  if (type === 'ExternalName') return none(`the Service ${text} is an ExternalName, which has no endpoints`)
  const port = ports.find(
    ({ port, name, protocol = 'TCP' }) => protocol === wantedProtocol && (`${port}` === wanted || name === wanted),
  )
  if (!port) return none(`the Service ${text} has no ${wantedProtocol} port ${wanted}: ${portsText(ports)}`)
  const all = endpointsOfSlices(slices, '').get(portKey(port.name ?? '', wantedProtocol)) ?? []
  const ready = all.filter(({ isReady }) => isReady)
  const used = ready.length > 0 ? ready : all.filter(({ isServing, isTerminating }) => isServing && isTerminating)
  if (used.length === 0)
    return none(`the Service ${text} has no ready endpoint: kubectl get pods --namespace ${namespace} shows why`)
  const targets = used.map(({ address, port }) => ({ address, port }))
  return { targets, status: `open, ${used.length} ${used.length === 1 ? 'endpoint' : 'endpoints'}` }
}

type Ports = NonNullable<NonNullable<Service['spec']>['ports']>

const portText = ({ port, name, protocol = 'TCP' }: Ports[number]): string =>
  `${port}/${protocol}${name ? ` (${name})` : ''}`

const portsText = (ports: Ports): string =>
  ports.length === 0 ? 'it has no ports' : `it has ${ports.map(portText).join(', ')}`
