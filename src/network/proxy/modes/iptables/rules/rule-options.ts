/** The options that rules of all Services depend on. */

import type { IpFamily } from '../../../picture/service-port.ts'
import type { LocalTraffic, NodePortAddresses } from '../../mode-options.ts'

export interface RuleOptions {
  readonly family: IpFamily
  readonly nodeAddress: string
  readonly nodePortAddresses: NodePortAddresses
  readonly localTraffic: LocalTraffic
  readonly masqueradeAll: boolean
  /** `0x4000`. */
  readonly masqueradeMark: string
  /** The program knows `MASQUERADE --random-fully`: iptables 1.6.2 or newer. */
  readonly hasRandomFully: boolean
  /** Node ports are served on 127.0.0.1, which needs `route_localnet` and a rule against its misuse. */
  readonly localhostNodePorts: boolean
  /** The kernel accepts packets outside of the window of a connection, so that none is dropped for that. */
  readonly isConntrackLiberal: boolean
}

/** @throws if rules of iptables cannot recognize the traffic: a match has one range. */
export function checkLocalTraffic(mode: string, traffic: LocalTraffic): void {
  if (traffic.kind !== 'cidrs' || traffic.cidrs.length < 2) return
  throw new Error(
    `the ${mode} mode recognizes local traffic by one range of an IP family, not by ${traffic.cidrs.join(', ')}: ` +
      'set one range in --cluster-cidr, or use the nftables mode',
  )
}

/** The match for connections of pods of this node; undefined if they are not recognized. */
export function ifLocal(traffic: LocalTraffic): string | undefined {
  switch (traffic.kind) {
    case 'cidrs':
      return traffic.cidrs[0] === undefined ? undefined : `-s ${traffic.cidrs[0]}`
    case 'bridge':
      return `-i ${traffic.name}`
    case 'interface-prefix':
      return `-i ${traffic.prefix}+`
    case 'none':
      return undefined
    default:
      return traffic satisfies never
  }
}

/** The match for all other connections. */
export function ifNotLocal(traffic: LocalTraffic): string | undefined {
  const local = ifLocal(traffic)
  return local === undefined ? undefined : `! ${local}`
}

/** A match that always holds, and names the purpose of a rule. */
export const comment = (text: string): string => `-m comment --comment "${text}"`
