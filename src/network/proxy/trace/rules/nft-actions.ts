/** Reads statements of nftables: verdicts, translations, marks, and maps of verdicts. */
import { elementKey, isRecord, type Json, recordOf, stringOf } from './nft-json.ts'
import type { Action, KeyField } from './ruleset.ts'

/** A set or map of a table. */
export interface NftSet {
  readonly keys: readonly Json[]
  /** Verdicts by key; empty for sets. */
  readonly entries: ReadonlyMap<string, Action>
  /** Rules add elements, as for affinity. */
  readonly isDynamic: boolean
  readonly timeoutSeconds: number | undefined
}

export interface NftSets {
  /** The name begins without `@`. */
  of(name: string): NftSet | undefined
}

/** Statements that do not decide about a packet. */
const withoutEffect = [
  'counter',
  'log',
  'set',
  'limit',
  'quota',
  'notrack',
  'meter',
  'xt',
  'ct count',
  'flow',
  'comment',
]

/** Undefined for statements that do not decide about a packet. */
export function actionOf(statement: Readonly<Record<string, Json>>, sets: NftSets): Action | undefined {
  const [kind = '', value] = Object.entries(statement)[0] ?? []
  switch (kind) {
    case 'jump':
    case 'goto':
      return { kind, chain: stringOf(recordOf(value)?.target) }
    case 'accept':
    case 'drop':
    case 'reject':
    case 'return':
    case 'masquerade':
      return { kind }
    case 'dnat':
      return translation(recordOf(value))
    case 'vmap':
      return mapAction(recordOf(value), sets)
    case 'mangle':
      return markAction(recordOf(value))
    default:
      return withoutEffect.includes(kind) ? undefined : { kind: 'unknown', text: kind }
  }
}

/** Undefined for an unknown set. */
export function setElements(set: Readonly<Record<string, Json>> | undefined): NftSet | undefined {
  if (!set) return undefined
  const elements = Array.isArray(set.elem) ? (set.elem as readonly Json[]) : []
  const isMap = set.map !== undefined
  const flags = Array.isArray(set.flags) ? set.flags : []
  return {
    keys: isMap ? elements.map((element) => (Array.isArray(element) ? element[0] : element)) : elements,
    entries: isMap ? verdicts(elements) : new Map(),
    isDynamic: flags.includes('timeout') || flags.includes('dynamic'),
    timeoutSeconds: typeof set.timeout === 'number' ? set.timeout : undefined,
  }
}

const noSets: NftSets = { of: () => undefined }

function verdicts(elements: readonly Json[]): Map<string, Action> {
  const found = new Map<string, Action>()
  for (const element of elements) {
    if (!Array.isArray(element)) continue
    const verdict = recordOf(element[1])
    const action = verdict && actionOf(verdict, noSets)
    if (action) found.set(elementKey(element[0]), action)
  }
  return found
}

function translation(value: Readonly<Record<string, Json>> | undefined): Action {
  const address = stringOf(value?.addr)
  if (address === '') return { kind: 'unknown', text: 'dnat' }
  return { kind: 'dnat', address, port: typeof value?.port === 'number' ? value.port : undefined }
}

function mapAction(value: Readonly<Record<string, Json>> | undefined, sets: NftSets): Action {
  const key = recordOf(value?.key)
  const data = value?.data
  const entries =
    typeof data === 'string'
      ? sets.of(data.replace(/^@/, ''))?.entries
      : verdicts(isRecord(data) && Array.isArray(data.set) ? data.set : [])
  if (isRecord(key?.numgen)) return { kind: 'choose', choices: [...(entries?.values() ?? [])] }
  const fields = keyFields(value?.key)
  if (!fields || !entries) return { kind: 'unknown', text: 'vmap' }
  return { kind: 'lookup', key: fields, entries }
}

/** The fields of a packet in a key; undefined if the trace does not know one of them. */
export function keyFields(key: Json): readonly KeyField[] | undefined {
  const { concat } = recordOf(key) ?? {}
  const parts = Array.isArray(concat) ? (concat as readonly Json[]) : [key]
  const fields = parts.map(keyField)
  return fields.every((field) => field !== undefined) ? fields : undefined
}

function keyField(part: Json): KeyField | undefined {
  const { payload, meta } = recordOf(part) ?? {}
  if (isRecord(meta) && meta.key === 'l4proto') return 'protocol'
  if (!isRecord(payload)) return undefined
  if (payload.field === 'saddr') return 'source'
  if (payload.field === 'daddr') return 'destination'
  return payload.field === 'dport' ? 'port' : undefined
}

const allBits = 0xffff_ffff

/** `meta mark set EXPRESSION`. */
function markAction(value: Readonly<Record<string, Json>> | undefined): Action | undefined {
  if (!isMark(value?.key)) return undefined
  const change = markChange(value?.value)
  return change ? { kind: 'mark', ...change } : { kind: 'unknown', text: 'meta mark set' }
}

/** True for `meta mark`. */
export const isMark = (value: Json): boolean => {
  const { meta } = recordOf(value) ?? {}
  return isRecord(meta) && meta.key === 'mark'
}

/** The new mark as `(mark & ~clear) ^ flip`. */
function markChange(value: Json): { readonly clear: number; readonly flip: number } | undefined {
  if (typeof value === 'number') return { clear: allBits, flip: value }
  if (isMark(value)) return { clear: 0, flip: 0 }
  const [operator, operands] = Object.entries(recordOf(value) ?? {})[0] ?? []
  if (!Array.isArray(operands)) return undefined
  const before = markChange(operands[0])
  const number: unknown = operands[1]
  if (!before || typeof number !== 'number') return undefined
  const { clear, flip } = before
  if (operator === '|') return { clear: (clear | number) >>> 0, flip: (flip | number) >>> 0 }
  if (operator === '^') return { clear, flip: (flip ^ number) >>> 0 }
  if (operator === '&') return { clear: (clear | ~number) >>> 0, flip: (flip & number) >>> 0 }
  return undefined
}
