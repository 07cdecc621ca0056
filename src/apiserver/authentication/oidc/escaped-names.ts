/** Values whose members also have escaped names: `claims.kubernetes__dot__io` is `claims['kubernetes.io']`. */
import { unescapeFieldName } from '../../../cel/syntax/escape.ts'
import type { ObjectType } from '../../../cel/types.ts'
import { CelList, CelMap, type Value } from '../../../cel/values.ts'

export function withEscapedNames(value: Value): Value {
  if (value instanceof CelMap) return new EscapedMap(value)
  return value instanceof CelList ? new EscapedList(value) : value
}

class EscapedMap extends CelMap {
  readonly #inner: CelMap
  declare readonly objectType?: ObjectType

  constructor(inner: CelMap) {
    super()
    this.#inner = inner
    if (inner.objectType) this.objectType = inner.objectType
  }

  get size(): number {
    return this.#inner.size
  }

  /** A member with exactly this name takes precedence. */
  get(key: Value): Value | undefined {
    const spelt = this.#inner.get(key)
    const found = spelt === undefined ? this.#unescaped(key) : spelt
    return found === undefined ? undefined : withEscapedNames(found)
  }

  keys(): Iterable<Value> {
    return this.#inner.keys()
  }

  #unescaped(key: Value): Value | undefined {
    if (typeof key !== 'string' || !key.includes('__')) return undefined
    const name = unescapeFieldName(key)
    return name === undefined ? undefined : this.#inner.get(name)
  }
}

class EscapedList extends CelList {
  readonly #inner: CelList

  constructor(inner: CelList) {
    super()
    this.#inner = inner
  }

  get size(): number {
    return this.#inner.size
  }

  at(index: number): Value {
    return withEscapedNames(this.#inner.at(index))
  }
}
