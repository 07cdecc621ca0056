/**
 * Access to fields and elements: `x.f`, `x[i]`, and their optional forms. Values that cannot have fields, such as null,
 * have none: testing for their presence is not an error.
 */
import { CelError, CelList, CelMap, OptionalValue, type Value } from '../values.ts'
import { numeric } from './equality.ts'

/** `container.field`. */
export function select(container: Value, field: string): Value {
  if (container instanceof CelMap) {
    const value = container.get(field)
    if (value === undefined) throw new CelError(`no such key: ${field}`)
    return value
  }
  if (container instanceof OptionalValue) return selectOptional(container, field)
  rejectList(container)
  throw new CelError(`no such key: ${field}`)
}

function rejectList(container: Value): void {
  if (container instanceof CelList) throw new CelError("unsupported index type 'string' in list")
}

/** `container.?field`, and `optional.field`. */
export function selectOptional(container: Value, field: string): OptionalValue {
  if (container instanceof OptionalValue)
    return container.value === undefined ? OptionalValue.none : selectOptional(container.value, field)
  rejectList(container)
  const value = container instanceof CelMap ? container.get(field) : undefined
  return value === undefined ? OptionalValue.none : new OptionalValue(value)
}

/** `has(container.field)`. */
export function present(container: Value, field: string): boolean {
  if (container instanceof CelMap) return container.get(field) !== undefined
  if (container instanceof OptionalValue) return container.value !== undefined && present(container.value, field)
  rejectList(container)
  return false
}

/** `container[index]`. */
export function element(container: Value, index: Value): Value {
  if (container instanceof CelMap) {
    if (index instanceof Uint8Array || index === null) throw new CelError('unsupported key type')
    const value = container.get(index)
    if (value === undefined) throw new CelError(`no such key: ${keyText(index)}`)
    return value
  }
  if (container instanceof CelList) {
    const place = listIndex(index)
    if (place < 0 || place >= container.size) throw new CelError(`index out of bounds: ${place}`)
    return container.at(place)
  }
  if (container instanceof OptionalValue) return elementOptional(container, index)
  throw new CelError(`no such key: ${keyText(index)}`)
}

/** `container[?index]`. */
export function elementOptional(container: Value, index: Value): OptionalValue {
  if (container instanceof OptionalValue)
    return container.value === undefined ? OptionalValue.none : elementOptional(container.value, index)
  if (container instanceof CelMap) {
    const value = container.get(index)
    return value === undefined ? OptionalValue.none : new OptionalValue(value)
  }
  if (!(container instanceof CelList)) return OptionalValue.none
  const place = listIndex(index)
  return place < 0 || place >= container.size ? OptionalValue.none : new OptionalValue(container.at(place))
}

function listIndex(index: Value): number {
  const place = numeric(index)
  if (place === undefined) throw new CelError(`unsupported index type '${typeof index}' in list`)
  if (typeof place === 'number' && !Number.isInteger(place))
    throw new CelError(`unsupported index value ${place} in list`)
  return Number(place)
}

const keyText = (key: Value): string =>
  typeof key === 'string' || typeof key === 'boolean' ? String(key) : String(numeric(key) ?? '')
