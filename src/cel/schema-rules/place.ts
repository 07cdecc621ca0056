/**
 * Where a value stands in an object, and which old value it replaces. Worked out when a fault has to be told, not
 * before.
 */
import { isObject } from '../../machinery/fields/json.ts'
import { correlatedItems, isUnchanged, none, type StructuralSchema } from '../../machinery/structural-schema/index.ts'

export class Place {
  readonly value: unknown
  readonly schema: StructuralSchema
  /** Undefined at the root. */
  private readonly parent: Place | undefined
  /** The way from the parent: `.field`, `[key]` of a map, `[index]`. */
  private readonly step: string
  // Many values of one list may have faults: what is found out about the list is kept.
  private known: Correlated | undefined
  private unchanged: boolean | undefined
  private finder: ((item: unknown) => unknown) | undefined

  private constructor(value: unknown, schema: StructuralSchema, parent: Place | undefined, step: string) {
    this.value = value
    this.schema = schema
    this.parent = parent
    this.step = step
  }

  /** Of a whole object or a default, whose path is `path`; `old` is what it replaces, or `none`. */
  static root(value: unknown, schema: StructuralSchema, path: string, old: unknown): Place {
    const root = new Place(value, schema, undefined, path)
    root.known = old === none ? unknown : { place: root, old, exact: true }
    return root
  }

  below(step: string, value: unknown, schema: StructuralSchema): Place {
    return new Place(value, schema, this, step)
  }

  /** `spec.parts[0].labels[app]`; empty at the root. */
  get path(): string {
    if (!this.parent) return this.step
    const before = this.parent.path
    return before === '' && this.step.startsWith('.') ? this.step.slice(1) : before + this.step
  }

  /**
   * Whether the value, or else the nearest one around it that is known again, is what it was before: its faults are let
   * through (KEP-4008). Unlike transition rules this knows items of plain lists again, by their index.
   */
  isAsBefore(): boolean {
    const { place, old } = this.correlated()
    if (!place) return false
    return (place.unchanged ??= isUnchanged(place.value, old, place.schema))
  }

  private correlated(): Correlated {
    return (this.known ??= this.correlate())
  }

  private correlate(): Correlated {
    const { parent, step } = this
    if (!parent) return unknown
    const around = parent.correlated()
    if (!around.exact) return around
    // Converted objects differ in these, though nobody changed them.
    if (!parent.parent && (step === '.apiVersion' || step === '.kind')) return unknown
    const old = parent.oldBelow(step, around.old)
    return old === none ? { ...around, exact: false } : { place: this, old, exact: true }
  }

  /** What stood in `old`, which this value replaces, where a step leads. */
  private oldBelow(step: string, old: unknown): unknown {
    const { value, schema } = this
    const key = step.startsWith('[') ? step.slice(1, -1) : step.slice(1)
    if (!Array.isArray(value)) return isObject(old) && Object.hasOwn(old, key) ? old[key] : none
    if (!Array.isArray(old)) return none
    const index = Number(key)
    const listType = schema.keywords['x-kubernetes-list-type']
    if (listType !== 'map') return listType === undefined && index < old.length ? (old[index] ?? none) : none
    this.finder ??= correlatedItems(old, schema) ?? (() => none)
    return this.finder(value[index])
  }
}

interface Correlated {
  /** The value that is known again: itself, or one around it; undefined if there is none. */
  readonly place: Place | undefined
  readonly old: unknown
  readonly exact: boolean
}

const unknown: Correlated = { place: undefined, old: none, exact: false }
