/** What expressions build: optional elements, and objects with fields. */
import type { ObjectType, Type } from '../types.ts'
import { CelError, CelMap, OptionalValue, type Value } from '../values.ts'

/** The value of `?x` in a list, a map or an object; undefined: it is left out. */
export function unwrapElement(value: Value): Value | undefined {
  if (!(value instanceof OptionalValue)) throw new CelError('no such overload')
  return value.value
}

class MadeObject extends CelMap {
  private readonly fields: ReadonlyMap<string, Value>
  override readonly objectType: ObjectType | undefined

  constructor(type: Type | undefined, fields: ReadonlyMap<string, Value>) {
    super()
    this.fields = fields
    this.objectType = type?.kind === 'object' ? type : undefined
  }
  get size(): number {
    return this.fields.size
  }
  get(key: Value): Value | undefined {
    return typeof key === 'string' ? this.fields.get(key) : undefined
  }
  keys(): Iterable<Value> {
    return this.fields.keys()
  }
}

/** An object of `type` with these fields. */
export const makeObject = (type: Type | undefined, fields: ReadonlyMap<string, Value>): CelMap =>
  new MadeObject(type, fields)
