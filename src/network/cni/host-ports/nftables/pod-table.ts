/**
 * The nftables table of the pod network: masquerades packets from pods to other networks, and forwards host ports to
 * pods. It has its own table; tables of others stay as they are.
 */
import { addressAt, parseCidr, rangeHas } from '../../../../lib/cidr.ts'
import type { HostPort } from '../../attachment.ts'
import {
  isAnyAddress,
  masqueradeMark,
  multicastRanges,
  type PodPorts,
  type PodRulesOptions,
} from '../host-port-rules.ts'

const families = [
  {
    version: 4,
    protocol: 'ip',
    type: 'ipv4_addr',
    suffix: '4',
    multicast: multicastRanges[4],
    loopback: '127.0.0.0/8',
  },
  { version: 6, protocol: 'ip6', type: 'ipv6_addr', suffix: '6', multicast: multicastRanges[6], loopback: '::1' },
] as const

type Family = (typeof families)[number]

/** Commands that create the table; the host ports that it has stay. */
export function tableCommands({ table, bridge, ranges, notMasqueraded }: PodRulesOptions): string {
  const name = `inet ${table}`
  const lines = [`add table ${name}`]
  for (const [chain, hook] of [
    ['prerouting', 'type nat hook prerouting priority dstnat; policy accept;'],
    ['output', 'type nat hook output priority -100; policy accept;'],
    ['postrouting', 'type nat hook postrouting priority srcnat; policy accept;'],
    ['host_ports', undefined],
    ['guard', 'type filter hook prerouting priority raw; policy accept;'],
  ] as const)
    lines.push(`add chain ${name} ${chain}${hook ? ` { ${hook} }` : ''}`, `flush chain ${name} ${chain}`)
  lines.push(
    // Host ports on 127.0.0.1 need route_localnet on the bridge, by which pods would reach the host's loopback.
    `add rule ${name} guard iifname "${bridge}" ip daddr 127.0.0.0/8 drop`,
    `add rule ${name} prerouting fib daddr type local jump host_ports`,
    `add rule ${name} output fib daddr type local jump host_ports`,
    `add rule ${name} postrouting meta mark and ${masqueradeMark} == ${masqueradeMark} masquerade fully-random`,
  )
  for (const family of families) {
    const own = ranges.filter((range) => parseCidr(range)?.family === family.version)
    lines.push(...familyCommands(name, family, own, notMasqueraded))
  }
  return `${lines.join('\n')}\n`
}

function familyCommands(
  name: string,
  { version, protocol, type, suffix, multicast, loopback }: Family,
  own: readonly string[],
  notMasqueraded: readonly string[] | undefined,
): string[] {
  const target = `${type} . inet_service`
  const lines = [
    `add set ${name} keys${suffix} { type inet_proto . inet_service; }`,
    `add map ${name} ports${suffix} { type inet_proto . inet_service : ${target}; }`,
    `add set ${name} address_keys${suffix} { type ${type} . inet_proto . inet_service; }`,
    `add map ${name} address_ports${suffix} { type ${type} . inet_proto . inet_service : ${target}; }`,
  ]
  const key = 'meta l4proto . th dport'
  // A pod that reaches itself, and a client on the host's loopback, must get the answer by the host.
  const sources = [loopback, ...own].join(', ')
  for (const [prefix, match] of [
    ['address_', `${protocol} daddr . ${key}`],
    ['', key],
  ] as const)
    lines.push(
      `add rule ${name} host_ports meta nfproto ipv${version} ${match} @${prefix}keys${suffix} ` +
        `${protocol} saddr { ${sources} } meta mark set meta mark or ${masqueradeMark}`,
      `add rule ${name} host_ports meta nfproto ipv${version} ` +
        `dnat ${protocol} to ${match} map @${prefix}ports${suffix}`,
    )
  if (notMasqueraded && own.length > 0) {
    const direct = notMasqueraded.filter((range) => parseCidr(range)?.family === version)
    lines.push(
      `add rule ${name} postrouting ${protocol} saddr { ${own.join(', ')} } ` +
        `${protocol} daddr != { ${disjoint([...own, ...direct, multicast]).join(', ')} } masquerade fully-random`,
    )
  }
  return lines
}

/** A set must not have ranges that overlap: leaves out those that are part of another one. */
const disjoint = (ranges: readonly string[]): string[] =>
  [...new Set(ranges)].filter((range) => !ranges.some((other) => other !== range && includes(other, range)))

function includes(outer: string, inner: string): boolean {
  const [one, other] = [parseCidr(outer), parseCidr(inner)]
  return one !== undefined && other !== undefined && one.prefix <= other.prefix && rangeHas(outer, addressAt(other, 0))
}

/** Commands that add or remove the host ports of a pod. */
export function portCommands(verb: 'add' | 'delete', table: string, { addresses, ports }: PodPorts): string[] {
  const lines = ports.flatMap((port) => addresses.flatMap((address) => elementCommands(verb, table, port, address)))
  return lines.map((line) => `${line}\n`)
}

function elementCommands(verb: string, table: string, port: HostPort, address: string): string[] {
  const { version, suffix } = families[address.includes(':') ? 1 : 0]
  const { hostIP = '', protocol, hostPort, containerPort } = port
  const isAny = isAnyAddress(hostIP)
  if (hostIP !== '' && hostIP.includes(':') !== (version === 6)) return []
  const prefix = isAny ? '' : 'address_'
  const key = `${isAny ? '' : `${hostIP} . `}${protocol} . ${hostPort}`
  return [
    `${verb} element inet ${table} ${prefix}keys${suffix} { ${key} }`,
    `${verb} element inet ${table} ${prefix}ports${suffix} { ${key} : ${address} . ${containerPort} }`,
  ]
}
