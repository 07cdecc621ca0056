/**
 * Lists and maps that Go always writes are null if they are nil. An empty one in a request is not nil, so that its
 * sender owns the field. The protobuf form in which Kubernetes stores its own kinds does not distinguish the two:
 * afterwards it is null as well.
 */
import type { FieldType, StructType } from '../schema.ts'

type Plain = Record<string, unknown>
type Visit = (value: unknown) => void

/** A field that is such a collection, or has one in it. */
interface Part {
  readonly name: string
  readonly mayBeNil: boolean
  readonly below: Visit | undefined
}

const compiled = new WeakMap<StructType, Visit>()

/**
 * Returns a function that sets collections that are stored as nil to null, in place. Returns undefined if the type has
 * no such collections.
 */
export const nilCollections = (type: StructType): ((object: object) => void) | undefined => visitOf(type)

function visitOf(type: FieldType): Visit | undefined {
  switch (type.kind) {
    case 'struct':
      return hasCollection(type) ? structVisit(type) : undefined
    case 'array': {
      const item = visitOf(type.items)
      return (
        item &&
        ((value) => {
          for (const each of value as readonly unknown[]) item(each)
        })
      )
    }
    case 'map': {
      const member = visitOf(type.values)
      return (
        member &&
        ((value) => {
          for (const each of Object.values(value as Plain)) member(each)
        })
      )
    }
    default:
      return undefined
  }
}

/** The parts are computed for the first value, because types may be recursive. */
function structVisit(type: StructType): Visit {
  const known = compiled.get(type)
  if (known) return known
  let parts: readonly Part[] | undefined
  const visit: Visit = (value) => {
    if (value === null) return
    parts ??= partsOf(type)
    const struct = value as Plain
    for (const { name, mayBeNil, below } of parts) {
      const member = struct[name]
      if (typeof member !== 'object' || member === null) continue
      if (mayBeNil && isEmpty(member)) struct[name] = null
      else below?.(member)
    }
  }
  compiled.set(type, visit)
  return visit
}

const mayBeNil = ({ type, written = false }: { readonly type: FieldType; readonly written?: boolean }): boolean =>
  written && (type.kind === 'array' || type.kind === 'map')

const partsOf = ({ fields }: StructType): readonly Part[] =>
  [...fields]
    .map(([name, field]) => ({ name, mayBeNil: mayBeNil(field), below: visitOf(field.type) }))
    .filter((part) => part.mayBeNil || part.below)

function hasCollection(type: StructType, seen = new Set<StructType>()): boolean {
  if (seen.has(type)) return false
  seen.add(type)
  return [...type.fields.values()].some((field) => {
    if (mayBeNil(field)) return true
    const inner = structIn(field.type)
    return inner !== undefined && hasCollection(inner, seen)
  })
}

function structIn(type: FieldType): StructType | undefined {
  if (type.kind === 'struct') return type
  if (type.kind === 'array') return structIn(type.items)
  return type.kind === 'map' ? structIn(type.values) : undefined
}

const isEmpty = (value: object): boolean => {
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}
