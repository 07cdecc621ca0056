/**
 * The rules of a pod network for iptables, in chains of its own. The chain of ports has two rules for each host port,
 * and is not flushed when the other chains are written.
 */
import { createHash } from 'node:crypto'
import { parseCidr } from '../../../../lib/cidr.ts'
import {
  isAnyAddress,
  masqueradeMark,
  multicastRanges,
  type PodPorts,
  type PodRulesOptions,
} from '../host-port-rules.ts'

export type IpVersion = 4 | 6

/** Names of chains have up to 28 characters. */
export interface ChainNames {
  readonly ports: string
  readonly mark: string
  readonly masquerade: string
  readonly guard: string
}

export function chainNames(table: string): ChainNames {
  const id = createHash('sha256').update(table).digest('hex').slice(0, 8).toUpperCase()
  const name = (part: string): string => `T8S-${part}-${id}`
  return { ports: name('PORTS'), mark: name('MARK'), masquerade: name('MASQ'), guard: name('GUARD') }
}

/** A rule that makes the kernel use a chain, as arguments without `-A`. */
export interface Jump {
  readonly table: 'nat' | 'raw'
  readonly rule: readonly string[]
}

export function jumps({ ports, masquerade, guard }: ChainNames, version: IpVersion): readonly Jump[] {
  const local = ['-m', 'addrtype', '--dst-type', 'LOCAL', '-j', ports]
  return [
    { table: 'nat', rule: ['PREROUTING', ...local] },
    { table: 'nat', rule: ['OUTPUT', ...local] },
    { table: 'nat', rule: ['POSTROUTING', '-j', masquerade] },
    ...(version === 4 ? [{ table: 'raw', rule: ['PREROUTING', '-j', guard] } as const] : []),
  ]
}

const loopbacks = { 4: '127.0.0.0/8', 6: '::1/128' } as const

/** The ranges of one version. */
export const rangesOf = (ranges: readonly string[], version: IpVersion): string[] =>
  ranges.filter((range) => parseCidr(range)?.family === version)

/** The input of `iptables-restore --noflush` that writes all chains but that of ports. */
export function chainLines(options: PodRulesOptions, names: ChainNames, version: IpVersion): string {
  const own = rangesOf(options.ranges, version)
  const mark = `${masqueradeMark}/${masqueradeMark}`
  const lines = ['*nat', `:${names.mark} - [0:0]`, `:${names.masquerade} - [0:0]`]
  // A pod that reaches itself, and a client on the host's loopback, must get the answer by the host.
  for (const source of [loopbacks[version], ...own])
    lines.push(`-A ${names.mark} -s ${source} -j MARK --set-xmark ${mark}`)
  lines.push(`-A ${names.masquerade} -m mark --mark ${mark} -j MASQUERADE --random-fully`)
  if (options.notMasqueraded) {
    const direct = [...new Set([...own, ...rangesOf(options.notMasqueraded, version), multicastRanges[version]])]
    for (const source of own) {
      for (const range of direct) lines.push(`-A ${names.masquerade} -s ${source} -d ${range} -j RETURN`)
      lines.push(`-A ${names.masquerade} -s ${source} -j MASQUERADE --random-fully`)
    }
  }
  lines.push('COMMIT')
  // Host ports on 127.0.0.1 need route_localnet on the bridge, by which pods would reach the host's loopback.
  if (version === 4)
    lines.push(
      '*raw',
      `:${names.guard} - [0:0]`,
      `-A ${names.guard} -i ${options.bridge} -d ${loopbacks[4]} -j DROP`,
      'COMMIT',
    )
  return `${lines.join('\n')}\n`
}

/** Rules of the table nat that add (`-A`) or remove (`-D`) the host ports of a pod. */
export function portRules(
  verb: '-A' | '-D',
  names: ChainNames,
  { addresses, ports }: PodPorts,
  version: IpVersion,
): string[] {
  return addresses
    .filter((address) => address.includes(':') === (version === 6))
    .flatMap((address) =>
      ports
        .filter(({ hostIP = '' }) => isAnyAddress(hostIP) || hostIP.includes(':') === (version === 6))
        .flatMap(({ hostIP, hostPort, containerPort, protocol }) => {
          const destination = isAnyAddress(hostIP) ? '' : ` -d ${hostIP}`
          const match = `${verb} ${names.ports}${destination} -p ${protocol} -m ${protocol} --dport ${hostPort}`
          const target = version === 6 ? `[${address}]:${containerPort}` : `${address}:${containerPort}`
          return [`${match} -j ${names.mark}`, `${match} -j DNAT --to-destination ${target}`]
        }),
    )
}
