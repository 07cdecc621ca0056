/** Calls library functions by overload id, without an expression. For tests. */
import type { Estimate, EstimatedNode, Overload } from '../library.ts'
import { dynType, type Type } from '../types.ts'
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  Duration,
  EntryMap,
  OptionalValue,
  Timestamp,
  UInt,
  type Value,
} from '../values.ts'
import { jsonPatchLibrary, kubernetesLibraries } from './index.ts'

/** All overloads, by id. */
export const overloads: ReadonlyMap<string, Overload> = new Map(
  [...kubernetesLibraries, jsonPatchLibrary].flatMap(({ functions = [] }) =>
    functions.flatMap((it) => it.overloads.map((overload) => [overload.id, overload] as const)),
  ),
)

function overloadOf(id: string): Overload {
  const found = overloads.get(id)
  if (!found) throw new Error(`no overload with id ${id}`)
  return found
}

export const call = (id: string, ...args: Value[]): Value => overloadOf(id).evaluate(...args)

/** Returns the cost of a call. Default: 1. */
export function costOf(id: string, ...args: Value[]): number {
  const { cost, evaluate } = overloadOf(id)
  return cost ? cost(args, evaluate(...args)) : 1
}

/** Returns the estimated cost for arguments of these types and sizes. */
export function estimateOf(id: string, ...args: EstimatedNode[]): Estimate {
  return overloadOf(id).estimate?.(args).cost ?? { min: 1, max: 1 }
}

/** Creates an argument with a known size and, for a list, its elements. */
export const node = (type: Type, size: Estimate, elements?: EstimatedNode): EstimatedNode => ({
  type,
  size,
  literal: undefined,
  sizeKnown: true,
  get elements() {
    return elements ?? node(dynType, { min: 0, max: 2 ** 64 })
  },
})

export const list = (...values: Value[]): CelList => new ArrayList(values)

export function map(...entries: (readonly [Value, Value])[]): CelMap {
  const made = new EntryMap()
  for (const [key, value] of entries) made.add(key, value)
  return made
}

/** Converts a value to JavaScript: lists to arrays, maps to arrays of pairs, optional values to their values. */
export function plain(value: Value | undefined): unknown {
  if (value instanceof CelList) return [...value].map(plain)
  if (value instanceof CelMap) return [...value.keys()].map((key) => [plain(key), plain(value.get(key))])
  if (value instanceof OptionalValue) return plain(value.value)
  if (value instanceof UInt) return `${value.value}u`
  if (value instanceof Duration || value instanceof Timestamp) return value.nanoseconds
  return value
}

/** Returns the message of the CelError that `run` throws. */
export function faultOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof CelError) return error.message
    throw error
  }
  throw new Error('the call did not fail')
}
