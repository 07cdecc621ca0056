/** `t8s trace service`: follows a connection to a Service through the rules of this machine. */

import { isIP } from 'node:net'
import { endpointSlices, nodes, pods, type Service, services } from '../../../client/kinds.ts'
import type { RestClient } from '../../../client/rest/rest-client.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import type { Endpoint } from '../picture/endpoint.ts'
import { PictureOfServices, type ProxiedPort } from '../picture/service-picture.ts'
import type { IpFamily } from '../picture/service-port.ts'
import type { NodeTopology } from '../picture/used-endpoints.ts'
import type { Packet } from './conditions.ts'
import { type Explanation, explainTrace } from './explain.ts'
import { readMachine } from './machine.ts'
import { type Origin, readOrigin } from './origin.ts'
import { readRulesets } from './rules/read-rulesets.ts'
import { type Machine, tracePacket } from './trace-packet.ts'
import { explainVirtualServer } from './virtual-servers/explain-virtual-server.ts'
import { parseVirtualServers } from './virtual-servers/parse-table.ts'

export interface ServiceQuery {
  readonly namespace: string
  readonly service: string
  /** A name or number. Default: the first port. */
  readonly port?: string | undefined
  /** `node`, `outside`, an address, or a pod as `NAME` or `NAMESPACE/NAME`. */
  readonly from?: string | undefined
  /** Connects to the node port instead of the cluster IP. */
  readonly isNodePort: boolean
}

export interface TraceEnvironment {
  readonly client: RestClient
  readonly run: RunProgram
  /** Addresses of all interfaces, those of loopback last. */
  readonly addresses: readonly string[]
  readonly hostname: string
  /** The content of `/proc/net/ip_vs`; empty without IPVS. */
  readonly virtualServers: string
}

/** @throws an ExplainedError for a Service, port or pod that does not exist, and if rules cannot be read */
export async function traceService(query: ServiceQuery, environment: TraceEnvironment): Promise<Explanation> {
  const { client, run } = environment
  const service = await client.find(services, query.namespace, query.service)
  if (!service)
    throw new ExplainedError(
      `there is no Service ${query.namespace}/${query.service}: list them with kubectl get services -A`,
    )
  const family: IpFamily = service.spec?.clusterIP?.includes(':') ? 6 : 4
  const machine = await readMachine(run, environment.addresses, family)
  const ownNode = await readOwnNode(environment, machine)
  const { addresses } = ownNode
  const [ports, rulesets] = await Promise.all([
    proxiedPorts(service, family, ownNode, client),
    readRulesets(run, family),
  ])
  const port = selectPort(ports, query, service)
  const origin = await readOrigin(query.from ?? (query.isNodePort ? 'outside' : 'node'), query.namespace, {
    client,
    family,
    machine,
    addresses,
  })
  const packet = packetTo(port, query.isNodePort, origin, addresses, family)
  const podNames = await namesOfPods(client, query.namespace)
  const options = { isNodePort: query.isNodePort, podOf: (address: string) => podNames.get(address) }
  const virtual = parseVirtualServers(environment.virtualServers).find(
    ({ protocol, address, port: number }) =>
      protocol === packet.protocol && address === packet.destination && number === packet.port,
  )
  const { lines, isReachable } = virtual
    ? explainVirtualServer(virtual, { ...options, expected: serversExpected(port, query.isNodePort) })
    : explainTrace(tracePacket(rulesets, packet, origin.isNode, machine), {
        ...options,
        expected: expectedEndpoints(port, query.isNodePort, origin),
      })
  return { lines: [headline(port, packet, query.isNodePort, origin), '', ...lines], isReachable }
}

const headline = (port: ProxiedPort, packet: Packet, isNodePort: boolean, origin: Origin): string =>
  `Service ${port.namespace}/${port.service}${port.name === '' ? '' : `, port ${port.name}`}: ` +
  `from ${origin.text} (${packet.source}) to ${isNodePort ? 'the node port' : 'the cluster IP'} ` +
  `${packet.destination}, ${packet.protocol} port ${packet.port}`

interface OwnNode extends NodeTopology {
  /** Those of this machine, the node's own in the API server first. */
  readonly addresses: readonly string[]
}

/** The node that is this machine; without the right to list nodes, its name is that of the machine. */
async function readOwnNode({ client, addresses, hostname }: TraceEnvironment, machine: Machine): Promise<OwnNode> {
  const { items } = await client.list(nodes).catch(() => ({ items: [] }))
  const own = items.find(({ status }) => status?.addresses?.some(({ address }) => machine.isLocal(address)))
  const named = (own?.status?.addresses ?? []).map(({ address }) => address).filter(machine.isLocal)
  return {
    node: own?.metadata.name ?? hostname,
    zone: own?.metadata.labels?.['topology.kubernetes.io/zone'] ?? '',
    addresses: [...new Set([...named.filter((name) => isIP(name) !== 0), ...addresses])],
  }
}

async function proxiedPorts(
  service: Service,
  family: IpFamily,
  topology: NodeTopology,
  client: RestClient,
): Promise<readonly ProxiedPort[]> {
  const { namespace = '', name = '' } = service.metadata
  const labelSelector = `kubernetes.io/service-name=${name}`
  const slices = await client.list(endpointSlices, { namespace, labelSelector })
  const picture = new PictureOfServices(family, topology)
  picture.setService(service, undefined)
  for (const slice of slices.items) picture.setSlice(slice, undefined)
  picture.update()
  return picture.picture.get(`${namespace}/${name}`) ?? []
}

function selectPort(ports: readonly ProxiedPort[], { port, isNodePort }: ServiceQuery, service: Service): ProxiedPort {
  const name = `${service.metadata.namespace}/${service.metadata.name}`
  const kind = service.spec?.type === 'ExternalName' ? 'of type ExternalName' : 'headless'
  if (ports.length === 0)
    throw new ExplainedError(
      `the Service ${name} has no cluster IP, as it is ${kind}, ` +
        'so that no rules concern it: names lead to its endpoints',
    )
  const wanted = port === undefined ? ports : ports.filter((one) => one.name === port || String(one.port) === port)
  const found = wanted.find(({ nodePort }) => !isNodePort || nodePort !== 0)
  if (found) return found
  const all = ports.map((one) => `${one.name === '' ? '' : `${one.name} `}${one.port}/${one.protocol}`).join(', ')
  if (wanted.length === 0) throw new ExplainedError(`the Service ${name} has no port ${port}; its ports are ${all}`)
  throw new ExplainedError(`the Service ${name} has no node port: omit --node-port, or use the type NodePort`)
}

function packetTo(
  port: ProxiedPort,
  isNodePort: boolean,
  origin: Origin,
  addresses: readonly string[],
  family: IpFamily,
): Packet {
  const isOfFamily = (address: string): boolean => address.includes(':') === (family === 6)
  return {
    family,
    protocol: protocols[port.protocol],
    source: origin.address,
    destination: isNodePort ? (addresses.find(isOfFamily) ?? '') : port.clusterIP,
    port: isNodePort ? port.nodePort : port.port,
    inInterface: origin.inInterface,
    outInterface: undefined,
    mark: 0,
    isTranslated: false,
    isMasqueraded: false,
  }
}

const protocols = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const

/** Connections of pods and of the node to node ports use endpoints of all nodes. */
function expectedEndpoints(port: ProxiedPort, isNodePort: boolean, { isOutside }: Origin): readonly Endpoint[] {
  const isLocal = isNodePort ? port.isExternalLocal && isOutside : port.isInternalLocal
  return isLocal ? port.endpoints.local : port.endpoints.cluster
}

/** The endpoints of a virtual server: one for all senders, which uses other nodes if this one has no endpoint. */
function serversExpected(port: ProxiedPort, isNodePort: boolean): readonly Endpoint[] {
  const { local, cluster } = port.endpoints
  return (isNodePort ? port.isExternalLocal : port.isInternalLocal) && local.length > 0 ? local : cluster
}

/** `NAME` by address; empty if the client may not list pods. */
async function namesOfPods(client: RestClient, namespace: string): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.list(pods, { namespace }).catch(() => ({ items: [] }))
  return new Map(
    items.flatMap(({ metadata, status }) =>
      (status?.podIPs ?? []).map(({ ip }) => [ip ?? '', metadata.name ?? ''] as const),
    ),
  )
}
