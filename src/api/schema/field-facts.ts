/** Parses a field's entry of the generated schema (`[]V1Container! merge:name list-map:name`) into a `Field`. */
import type { Field, FieldType, StructType } from '../../machinery/schema.ts'

const scalars: Readonly<Record<string, FieldType>> = {
  string: { kind: 'string' },
  bytes: { kind: 'string', format: 'byte' },
  time: { kind: 'string', format: 'date-time' },
  microtime: { kind: 'string', format: 'micro-time' },
  bool: { kind: 'boolean' },
  int32: { kind: 'integer', format: 'int32' },
  int64: { kind: 'integer', format: 'int64' },
  double: { kind: 'number' },
  quantity: { kind: 'quantity' },
  intstr: { kind: 'int-or-string' },
  any: { kind: 'any' },
}

function fieldType(text: string, struct: (model: string) => StructType): FieldType {
  if (text.startsWith('[]')) return { kind: 'array', items: fieldType(text.slice(2), struct) }
  if (text.startsWith('{}')) return { kind: 'map', values: fieldType(text.slice(2), struct) }
  return scalars[text] ?? struct(text)
}

interface Facts {
  patchStrategy?: Field['patchStrategy']
  patchMergeKey?: string
  listType?: Field['listType']
  listMapKeys?: readonly string[]
  mapType?: Field['mapType']
  default?: unknown
  enum?: readonly string[]
  goType?: string
  or?: string
  pointer?: true
  written?: true
  omitted?: true
}

function parseFact(fact: string, facts: Facts): void {
  const colon = fact.indexOf(':')
  const name = colon < 0 ? fact : fact.slice(0, colon)
  const value = colon < 0 ? '' : fact.slice(colon + 1)
  switch (name) {
    case 'pointer':
    case 'written':
    case 'omitted':
      facts[name] = true
      break
    case 'go':
      facts.goType = value
      break
    case 'or':
      facts.or = value
      break
    case 'default':
      facts.default = JSON.parse(value)
      break
    case 'enum':
      facts.enum = value.split(',').map((one) => one.replaceAll('_', ' '))
      break
    case 'list-atomic':
      facts.listType = 'atomic'
      break
    case 'list-set':
      facts.listType = 'set'
      break
    case 'list-map':
      facts.listType = 'map'
      facts.listMapKeys = value.split(',')
      break
    case 'map-atomic':
      facts.mapType = 'atomic'
      break
    case 'granular':
      facts.mapType = 'granular'
      break
    case 'key':
      facts.patchMergeKey = value
      break
    default:
      facts.patchStrategy = name.split(',') as ('merge' | 'replace' | 'retainKeys')[]
      if (value) facts.patchMergeKey = value
  }
}

/**
 * Returns the field and whether it is required. Facts: `pointer` (a pointer in Go: empty values are kept, absent ones
 * stay absent), `written` (always encoded), `omitted` (required, but omitted when empty), `go:TYPE`, `merge:KEY` and
 * other patch strategies, `list-map:KEYS`, `list-set`, `list-atomic`, `map-atomic`, `granular`, `default:JSON`,
 * `enum:A,B` (`_` is a space), `or:MODEL` (free-form JSON whose objects are of that model).
 */
export function parseField(entry: string, struct: (model: string) => StructType): { field: Field; required: boolean } {
  const [head = '', ...rest] = entry.split(' ')
  const required = head.endsWith('!')
  const facts: Facts = {}
  for (const fact of rest) parseFact(fact, facts)
  const { pointer = false, omitted = false, written: always = false, or, ...published } = facts
  const type: FieldType = or
    ? { kind: 'any', object: struct(or) }
    : fieldType(required ? head.slice(0, -1) : head, struct)
  const written = always || (required && !pointer && !omitted)
  // Optional fields of these types are pointers in Go: structs, raw JSON, times, quantities.
  const isPointerByType =
    type.kind === 'struct' ||
    type.kind === 'any' ||
    type.kind === 'quantity' ||
    type.kind === 'int-or-string' ||
    (type.kind === 'string' && (type.format === 'date-time' || type.format === 'micro-time'))
  return {
    field: { type, ...published, keepsEmpty: pointer || written || isPointerByType, ...(written && { written }) },
    required,
  }
}
