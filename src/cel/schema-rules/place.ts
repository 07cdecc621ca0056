/** Where a value stands in an object, and which old value it replaces. Worked out when a fault has to be told, not before. */
import { isObject } from '../../machinery/fields/json.ts'
import { correlatedItems, isUnchanged, none, type StructuralSchema } from '../../machinery/structural-schema/index.ts'

export interface Place {
  /** Undefined at the root. */
  readonly parent: Place | undefined
  /** The way from the parent: a field, a key of a map, an index. */
  readonly step: string
  readonly value: unknown
  readonly schema: StructuralSchema
  /** At the root: the old object, or `none`. */
  readonly old?: unknown
}

/** `spec.parts[0].labels[app]`; empty at the root. */
export function pathOf({ parent, step }: Place): string {
  if (!parent) return step
  const before = pathOf(parent)
  return before === '' && step.startsWith('.') ? step.slice(1) : before + step
}

/**
 * Whether a value, or else the nearest one around it that is known again, is what it was before: its faults are let through (KEP-4008).
 * Unlike transition rules this knows items of plain lists again, by their index.
 */
export function isAsBefore(place: Place): boolean {
  const { known, old } = correlated(place)
  return known !== undefined && isUnchanged(known.value, old, known.schema)
}

interface Correlated {
  /** Undefined: nothing around the value is known again. */
  readonly known: Place | undefined
  readonly old: unknown
  /** Whether it is the value itself. */
  readonly exact: boolean
}

function correlated(place: Place): Correlated {
  const { parent } = place
  if (!parent) return place.old === none ? { known: undefined, old: none, exact: false } : { known: place, old: place.old, exact: true }
  const around = correlated(parent)
  if (!around.exact) return around
  // Converted objects differ in these, though nobody changed them.
  if (!parent.parent && (place.step === '.apiVersion' || place.step === '.kind')) return { known: undefined, old: none, exact: false }
  const old = oldValueOf(place, parent, around.old)
  return old === none ? { ...around, exact: false } : { known: place, old, exact: true }
}

function oldValueOf({ step }: Place, { value, schema }: Place, old: unknown): unknown {
  if (Array.isArray(value)) {
    const index = Number(step.slice(1, -1))
    if (!Array.isArray(old)) return none
    const listType = schema.keywords['x-kubernetes-list-type']
    if (listType === 'map') return correlatedItems(old, schema)?.(value[index]) ?? none
    return listType === undefined && index < old.length ? (old[index] ?? none) : none
  }
  const name = step.startsWith('[') ? step.slice(1, -1) : step.slice(1)
  return isObject(old) && Object.hasOwn(old, name) ? old[name] : none
}
