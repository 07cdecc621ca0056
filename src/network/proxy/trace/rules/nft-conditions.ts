/** Reads matches of nftables. Those that a trace cannot evaluate become unknown conditions. */
import { isMark, keyFields, type NftSets } from './nft-actions.ts'
import { elementKey, isRecord, type Json, rangeText, recordOf, stringOf, valuesOf } from './nft-json.ts'
import type { Condition, Side } from './ruleset.ts'

/** `{ "op": "==", "left": …, "right": … }`. */
export function conditionOf({ op, left, right }: Readonly<Record<string, Json>>, sets: NftSets): Condition {
  const isNegated = op === '!='
  const condition = positiveCondition(left, right, sets)
  if (!condition || !['==', '!=', 'in'].includes(stringOf(op)))
    return { kind: 'unknown', text: JSON.stringify({ op, left, right }) }
  return isNegated ? { ...condition, isNegated } : condition
}

function positiveCondition(left: Json, right: Json, sets: NftSets): Condition | undefined {
  const { payload, meta, ct, fib, concat, numgen, '&': masked } = recordOf(left) ?? {}
  if (isRecord(payload)) return payloadCondition(payload, right, sets)
  if (isRecord(meta)) return metaCondition(meta, right)
  if (isRecord(ct)) return connectionCondition(ct, right)
  if (isRecord(fib)) return fibCondition(fib, right)
  if (isRecord(numgen)) return { kind: 'random', probability: valuesOf(right).length / Number(numgen.mod) }
  if (concat !== undefined) return setCondition(left, right, sets)
  if (Array.isArray(masked)) return markCondition(masked, right)
  return undefined
}

function payloadCondition(
  { protocol, field }: Readonly<Record<string, Json>>,
  right: Json,
  sets: NftSets,
): Condition | undefined {
  if (field === 'dport') {
    const ranges = valuesOf(right).map(portRange)
    return ranges.every((range) => range !== undefined) ? { kind: 'port', ranges } : undefined
  }
  if ((protocol !== 'ip' && protocol !== 'ip6') || (field !== 'saddr' && field !== 'daddr')) return undefined
  return addressCondition(field === 'saddr' ? 'source' : 'destination', right, sets)
}

function addressCondition(side: Side, right: Json, sets: NftSets): Condition | undefined {
  if (typeof right === 'string' && right.startsWith('@')) {
    const name = right.slice(1)
    const set = sets.of(name)
    if (!set) return undefined
    if (set.isDynamic) return { kind: 'affinity', list: name, seconds: set.timeoutSeconds }
    return { kind: 'address', side, ranges: set.keys.map(elementKey) }
  }
  const ranges = valuesOf(right).map(rangeText)
  return ranges.every((range) => range !== undefined) ? { kind: 'address', side, ranges } : undefined
}

function setCondition(left: Json, right: Json, sets: NftSets): Condition | undefined {
  const key = keyFields(left)
  if (!key || typeof right !== 'string') return undefined
  const set = sets.of(right.replace(/^@/, ''))
  return set && { kind: 'set', key, elements: new Set(set.keys.map(elementKey)) }
}

function metaCondition({ key }: Readonly<Record<string, Json>>, right: Json): Condition | undefined {
  const names = valuesOf(right).map(String)
  switch (key) {
    case 'l4proto':
      return { kind: 'protocol', names }
    case 'iifname':
    case 'iif':
      return { kind: 'interface', direction: 'in', names }
    case 'oifname':
    case 'oif':
      return { kind: 'interface', direction: 'out', names }
    case 'mark':
      return typeof right === 'number' ? { kind: 'mark', value: right, mask: 0xffff_ffff } : undefined
    default:
      return undefined
  }
}

const connectionCondition = ({ key }: Readonly<Record<string, Json>>, right: Json): Condition | undefined =>
  key === 'state' || key === 'status' ? { kind: 'state', states: valuesOf(right).map(String) } : undefined

function fibCondition({ result, flags }: Readonly<Record<string, Json>>, right: Json): Condition | undefined {
  const side = valuesOf(flags).includes('saddr') ? 'source' : 'destination'
  return result === 'type' && right === 'local' ? { kind: 'local', side } : undefined
}

function markCondition([mark, mask]: readonly Json[], right: Json): Condition | undefined {
  if (!isMark(mark) || typeof mask !== 'number' || typeof right !== 'number') return undefined
  return { kind: 'mark', value: right, mask }
}

function portRange(value: Json): readonly [number, number] | undefined {
  if (typeof value === 'number') return [value, value]
  const { range } = recordOf(value) ?? {}
  return Array.isArray(range) ? [Number(range[0]), Number(range[1])] : undefined
}
