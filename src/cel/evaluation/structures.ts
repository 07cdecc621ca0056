/** Construction of optional elements and objects. */
import type { ObjectType, Type } from '../types.ts'
import { CelError, CelMap, OptionalValue, type Value } from '../values.ts'

/** Returns the value of `?x` in a list, map or object, or undefined if it is omitted. */
export function unwrapElement(value: Value): Value | undefined {
  if (!(value instanceof OptionalValue)) throw new CelError('no such overload')
  return value.value
}

class ConstructedObject extends CelMap {
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

/** Creates an object of `type` with these fields. */
export const makeObject = (type: Type | undefined, fields: ReadonlyMap<string, Value>): CelMap =>
  new ConstructedObject(type, fields)
