/** The location of a value in an object and the old value at it, computed only if there is an error to report. */
import { isObject } from '../../machinery/fields/json.ts'
import { correlatedItems, isUnchanged, none, type StructuralSchema } from '../../machinery/structural-schema/index.ts'

export class ValueLocation {
  readonly value: unknown
  readonly schema: StructuralSchema
  /** Undefined at the root. */
  private readonly parent: ValueLocation | undefined
  /** The step from the parent: `.field`, `[key]` of a map, `[index]`. */
  private readonly step: string
  // Cached, because many values of one list may have errors.
  private known: Correlated | undefined
  private unchanged: boolean | undefined
  private finder: ((item: unknown) => unknown) | undefined

  private constructor(value: unknown, schema: StructuralSchema, parent: ValueLocation | undefined, step: string) {
    this.value = value
    this.schema = schema
    this.parent = parent
    this.step = step
  }

  /** Creates the location of a whole object or a default at `path`. `old` is the old value, or `none`. */
  static root(value: unknown, schema: StructuralSchema, path: string, old: unknown): ValueLocation {
    const root = new ValueLocation(value, schema, undefined, path)
    root.known = old === none ? unknown : { place: root, old, exact: true }
    return root
  }

  below(step: string, value: unknown, schema: StructuralSchema): ValueLocation {
    return new ValueLocation(value, schema, this, step)
  }

  /** The path: `spec.parts[0].labels[app]`. Empty at the root. */
  get path(): string {
    if (!this.parent) return this.step
    const before = this.parent.path
    return before === '' && this.step.startsWith('.') ? this.step.slice(1) : before + this.step
  }

  /**
   * Returns true if the value, or the nearest parent that can be correlated, has not changed: its errors are ignored
   * then (KEP-4008). Unlike for transition rules, items of plain lists are correlated by index.
   */
  isUnchanged(): boolean {
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
    // Converted objects differ in these without a change.
    if (!parent.parent && (step === '.apiVersion' || step === '.kind')) return unknown
    const old = parent.oldBelow(step, around.old)
    return old === none ? { ...around, exact: false } : { place: this, old, exact: true }
  }

  /** Returns the value at a step in `old`, the old value of this one. */
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
  /** The correlated location: itself or a parent. Undefined if there is none. */
  readonly place: ValueLocation | undefined
  readonly old: unknown
  readonly exact: boolean
}

const unknown: Correlated = { place: undefined, old: none, exact: false }
