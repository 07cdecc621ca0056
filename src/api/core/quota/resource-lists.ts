/** Arithmetic on lists of resources (`cpu: 500m`), any of which may be missing. Arguments are not changed. */

import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  signOf,
  subtractQuantities,
} from '../../../machinery/values/quantity.ts'
import type { ResourceList } from './resource-list.ts'

export const sum = (a: ResourceList, b: ResourceList): ResourceList => {
  const total = { ...a }
  for (const name in b) total[name] = Object.hasOwn(total, name) ? addQuantities(total[name]!, b[name]!) : b[name]!
  return total
}

/** Returns the amounts by which `a` exceeds `b`. */
export function positiveDifference(a: ResourceList, b: ResourceList): ResourceList {
  const more: ResourceList = {}
  for (const name in a) {
    const before = b[name] ?? '0'
    if (compareQuantities(a[name]!, before) > 0) more[name] = subtractQuantities(a[name]!, before)
  }
  return more
}

/** Returns the smaller amount of each resource that is in both lists. */
export function smaller(a: ResourceList, b: ResourceList): ResourceList {
  const some: ResourceList = {}
  for (const name in a)
    if (Object.hasOwn(b, name)) some[name] = compareQuantities(a[name]!, b[name]!) < 0 ? a[name]! : b[name]!
  return some
}

/** Returns only the named resources of a list. */
export function onlyNamed(list: ResourceList, names: readonly string[]): ResourceList {
  const some: ResourceList = {}
  for (const name of names) if (Object.hasOwn(list, name)) some[name] = list[name]!
  return some
}

export const withoutZeros = (list: ResourceList): ResourceList =>
  onlyNamed(
    list,
    Object.keys(list).filter((name) => signOf(list[name]!) !== 0),
  )

/** Returns the names of resources above their limit. Resources without a limit are ignored. */
export const exceeding = (list: ResourceList, limits: ResourceList): string[] =>
  Object.keys(list).filter((name) => Object.hasOwn(limits, name) && compareQuantities(list[name]!, limits[name]!) > 0)

export function sameAmounts(a: ResourceList, b: ResourceList): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && compareQuantities(a[name]!, b[name]!) === 0)
  )
}

/** Returns for example `cpu=600m,limits.memory=600Mi`, sorted by name. */
export const formatResources = (list: ResourceList): string =>
  Object.keys(list)
    .sort()
    .map((name) => `${name}=${canonicalQuantity(list[name]!)}`)
    .join(',')
