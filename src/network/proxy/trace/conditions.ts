/** Decides whether a packet meets the conditions of a rule. */
import { isIP } from 'node:net'
import { parseCidr, rangeHas } from '../../../lib/cidr.ts'
import type { Condition, KeyField } from './rules/ruleset.ts'

/** The first packet of a connection, as it is at some point of its way. */
export interface Packet {
  readonly family: 4 | 6
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  readonly source: string
  readonly destination: string
  readonly port: number
  /** Undefined for packets that this machine sends, and if unknown. */
  readonly inInterface: string | undefined
  /** Undefined before routing, and if unknown. */
  readonly outInterface: string | undefined
  readonly mark: number
  readonly isTranslated: boolean
  readonly isMasqueraded: boolean
}

/** True for addresses of this machine. */
export type IsLocal = (address: string) => boolean

/** How a packet meets conditions: never or always, with a probability, maybe, or if its source came here before. */
export type Match =
  | { readonly kind: 'probability'; readonly value: number }
  | { readonly kind: 'unknown'; readonly text: string }
  | { readonly kind: 'affinity'; readonly seconds: number | undefined }

export const never: Match = { kind: 'probability', value: 0 }

export function matchOf(conditions: readonly Condition[], packet: Packet, isLocal: IsLocal): Match {
  let probability = 1
  let unknown: string | undefined
  let affinity: Match | undefined
  for (const condition of conditions)
    switch (condition.kind) {
      case 'random':
        probability *= condition.isNegated ? 1 - condition.probability : condition.probability
        break
      case 'affinity':
        affinity = { kind: 'affinity', seconds: condition.seconds }
        break
      default: {
        const result = holds(condition, packet, isLocal)
        if (result === undefined) unknown = condition.kind === 'unknown' ? condition.text : condition.kind
        else if (result === (condition.isNegated ?? false)) return never
      }
    }
  if (unknown !== undefined) return { kind: 'unknown', text: unknown }
  return affinity ?? { kind: 'probability', value: probability }
}

/** The fields of a key of a set or map. */
export const keyOf = (fields: readonly KeyField[], packet: Packet): string =>
  fields.map((field) => String(packet[field])).join(' . ')

/** Without negation. Undefined if the trace cannot know. */
function holds(condition: Condition, packet: Packet, isLocal: IsLocal): boolean | undefined {
  switch (condition.kind) {
    case 'address':
      return condition.ranges.some((range) => addressMatches(range, packet[condition.side]))
    case 'protocol':
      return condition.names.some((name) => name === packet.protocol || name === 'all')
    case 'port':
      return condition.ranges.some(([from, to]) => packet.port >= from && packet.port <= to)
    case 'interface':
      return interfaceMatches(condition.names, condition.direction === 'in' ? packet.inInterface : packet.outInterface)
    case 'local':
      return isLocal(packet[condition.side])
    case 'state':
      return condition.states.includes('new') || (packet.isTranslated && condition.states.includes('dnat'))
    case 'mark':
      return (packet.mark & condition.mask) >>> 0 === condition.value
    case 'set':
      return condition.elements.has(keyOf(condition.key, packet))
    default:
      return undefined
  }
}

/** A range, `FIRST-LAST`, or an address. */
function addressMatches(range: string, address: string): boolean {
  if (range.includes('/')) return rangeHas(range, address)
  const [first = '', last] = range.split('-')
  if (last === undefined) return range === address
  const [from, to, value] = [first, last, address].map(addressNumber)
  return from !== undefined && to !== undefined && value !== undefined && from <= value && value <= to
}

const addressNumber = (address: string): bigint | undefined =>
  parseCidr(`${address}/${isIP(address) === 6 ? 128 : 32}`)?.base

function interfaceMatches(names: readonly string[], name: string | undefined): boolean | undefined {
  if (name === undefined) return undefined
  return names.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}
