/** Assignability of types with inference of type parameters, by cel-go's rules. */
import { dynType, isOptionalType, type Type } from '../types.ts'

/** The inferred types of type parameters. */
export type Bindings = Map<string, Type>

/** Replaces the type parameters in `type`. With `close`, unbound ones become dyn. */
export function substitute(bindings: Bindings, type: Type, close = false): Type {
  switch (type.kind) {
    case 'parameter': {
      const bound = bindings.get(type.name)
      if (bound) return substitute(bindings, bound, close)
      return close ? dynType : type
    }
    case 'list': {
      const element = substitute(bindings, type.element, close)
      return element === type.element ? type : { ...type, element }
    }
    case 'map': {
      const [key, value] = [substitute(bindings, type.key, close), substitute(bindings, type.value, close)]
      return key === type.key && value === type.value ? type : { ...type, key, value }
    }
    case 'opaque':
      return type.parameters.length === 0
        ? type
        : { ...type, parameters: type.parameters.map((parameter) => substitute(bindings, parameter, close)) }
    case 'type':
      return { kind: 'type', of: substitute(bindings, type.of, close) }
    default:
      return type
  }
}

/** Returns true if all of `from` are assignable to `to`. Adds to `bindings` only then. */
export function assignable(bindings: Bindings, from: readonly Type[], to: readonly Type[]): boolean {
  if (from.length !== to.length) return false
  const plain = compareKinds(from, to)
  if (plain !== undefined) return plain
  const before = bindings.size
  if (from.every((type, index) => fits(bindings, type, to[index] as Type))) return true
  // Parameters are bound once, so the new bindings are the last ones.
  if (bindings.size > before) for (const name of [...bindings.keys()].slice(before)) bindings.delete(name)
  return false
}

/** Types without further properties. */
const plainKinds = new Set<Type['kind']>(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'duration', 'timestamp'])

/** Compares kinds only, which decides most calls. Returns undefined if that is not enough. */
function compareKinds(from: readonly Type[], to: readonly Type[]): boolean | undefined {
  let decided: true | undefined = true
  for (let i = 0; i < from.length; i++) {
    const [a, b] = [from[i] as Type, to[i] as Type]
    if (!plainKinds.has(a.kind) || !plainKinds.has(b.kind)) decided = undefined
    else if (a.kind !== b.kind) return false
  }
  return decided
}

function fits(bindings: Bindings, from: Type, to: Type): boolean {
  const [a, b] = [resolve(bindings, from), resolve(bindings, to)]
  if (b.kind === 'parameter') return bind(bindings, b.name, a)
  if (a.kind === 'parameter') return bind(bindings, a.name, b)
  if (isDynamic(a) || isDynamic(b)) return true
  if (a.kind === 'null' && b.kind !== 'null') return nullable(b)
  if (b.kind === 'null' && a.kind !== 'null') return nullable(a)
  if (a.kind === 'list') return b.kind === 'list' && fits(bindings, a.element, b.element)
  if (a.kind === 'map') return b.kind === 'map' && fits(bindings, a.key, b.key) && fits(bindings, a.value, b.value)
  if (a.kind === 'object') return b.kind === 'object' && a.name === b.name
  if (a.kind === 'opaque')
    return (
      b.kind === 'opaque' &&
      a.name === b.name &&
      a.parameters.length === b.parameters.length &&
      a.parameters.every((parameter, index) => fits(bindings, parameter, b.parameters[index] as Type))
    )
  return a.kind === b.kind
}

function resolve(bindings: Bindings, type: Type): Type {
  let found = type
  while (found.kind === 'parameter') {
    const bound = bindings.get(found.name)
    if (!bound) return found
    found = bound
  }
  return found
}

function bind(bindings: Bindings, name: string, type: Type): boolean {
  if (type.kind === 'parameter' && type.name === name) return true
  if (mentions(bindings, type, name)) return false
  bindings.set(name, type)
  return true
}

function mentions(bindings: Bindings, type: Type, name: string): boolean {
  const found = resolve(bindings, type)
  if (found.kind === 'parameter') return found.name === name
  if (found.kind === 'list') return mentions(bindings, found.element, name)
  if (found.kind === 'map') return mentions(bindings, found.key, name) || mentions(bindings, found.value, name)
  if (found.kind === 'type') return mentions(bindings, found.of, name)
  return found.kind === 'opaque' && found.parameters.some((parameter) => mentions(bindings, parameter, name))
}

export const isDynamic = (type: Type): boolean => type.kind === 'dyn' || type.kind === 'error'

const nullable = (type: Type): boolean =>
  type.kind === 'object' ||
  type.kind === 'duration' ||
  type.kind === 'timestamp' ||
  (type.kind === 'opaque' && !isOptionalType(type)) ||
  isOptionalType(type)

/** Returns the more general of two types that are assignable to each other. */
export function moreGeneral(a: Type, b: Type): Type {
  if (isDynamic(a)) return a
  if (isDynamic(b)) return b
  return a.kind === 'null' && b.kind !== 'null' ? b : a
}

/** Returns true if the types are equal, without regard to sizes. */
export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind !== b.kind) return false
  if (a.kind === 'list' && b.kind === 'list') return sameType(a.element, b.element)
  if (a.kind === 'map' && b.kind === 'map') return sameType(a.key, b.key) && sameType(a.value, b.value)
  if (a.kind === 'object' && b.kind === 'object') return a.name === b.name
  if (a.kind === 'parameter' && b.kind === 'parameter') return a.name === b.name
  if (a.kind === 'type' && b.kind === 'type') return sameType(a.of, b.of)
  if (a.kind === 'opaque' && b.kind === 'opaque')
    return (
      a.name === b.name &&
      a.parameters.length === b.parameters.length &&
      a.parameters.every((type, index) => sameType(type, b.parameters[index] as Type))
    )
  return true
}
