/** The ports of rules of administrators, in the form of those of NetworkPolicies. Throws Errors for invalid ones. */
import { allPorts, type RulePorts } from '../compiled-policy.ts'
import type { AdminPort, AdminProtocol, ProtocolPorts } from './kinds.ts'

type Port = NonNullable<RulePorts>[number]

const protocols = ['TCP', 'UDP', 'SCTP'] as const

/** Of AdminNetworkPolicies and BaselineAdminNetworkPolicies. */
export const portsOf = (ports: readonly AdminPort[]): RulePorts =>
  ports.flatMap(({ portNumber, namedPort, portRange }) => {
    checkOne([portNumber, namedPort, portRange], 'portNumber, namedPort or portRange')
    if (portNumber) return [portOf(portNumber.protocol, portNumber.port, portNumber.port)]
    if (portRange) return [portOf(portRange.protocol, portRange.start, portRange.end)]
    return named(namedPort ?? '')
  })

/** Of ClusterNetworkPolicies. */
export const protocolsOf = (given: readonly AdminProtocol[]): RulePorts =>
  given.flatMap(({ tcp, udp, sctp, destinationNamedPort }) => {
    checkOne([tcp, udp, sctp, destinationNamedPort], 'tcp, udp, sctp or destinationNamedPort')
    if (tcp) return [destinationOf('TCP', tcp)]
    if (udp) return [destinationOf('UDP', udp)]
    if (sctp) return [destinationOf('SCTP', sctp)]
    return named(destinationNamedPort ?? '')
  })

function destinationOf(protocol: string, { destinationPort }: ProtocolPorts): Port {
  if (!destinationPort) return { protocol }
  const { number, range } = destinationPort
  checkOne([number, range], 'number or range')
  return portOf(protocol, range?.start ?? number, range?.end ?? number)
}

/** The ports of pods with this name, of any protocol. */
const named = (port: string): Port[] => protocols.map((protocol) => ({ protocol, port }))

function portOf(protocol = 'TCP', first: number | undefined, last: number | undefined): Port {
  if (!protocols.some((known) => known === protocol)) throw new Error(`${protocol} is not TCP, UDP or SCTP`)
  if (!isPort(first) || !isPort(last) || first > last)
    throw new Error(`a port is not from ${allPorts.first} to ${allPorts.last}, or a range ends before its start`)
  return { protocol, port: first, ...(last > first && { endPort: last }) }
}

const isPort = (port: number | undefined): port is number =>
  port !== undefined && Number.isInteger(port) && port >= allPorts.first && port <= allPorts.last

function checkOne(fields: readonly unknown[], names: string): void {
  if (fields.filter((field) => field !== undefined).length !== 1) throw new Error(`a port must have one of ${names}`)
}
