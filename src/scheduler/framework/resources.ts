/** Amounts of resources as plain numbers. Quantities repeat, so parsed ones are cached. */
import { isExtendedResource, isHugePages, isNativeResource } from '../../api/core/quota/resource-list.ts'
import { milliValue, wholeValue } from '../../machinery/values/quantity.ts'

/** A resource list of the API: `{ cpu: '500m', memory: '1Gi' }`. */
export type ResourceList = Readonly<Record<string, string>>

/** Amounts of resources: requests of pods, or what a node can allocate. */
export interface Resources {
  /** Thousandths of a core. */
  milliCPU: number
  /** Bytes. */
  memory: number
  /** Bytes. */
  ephemeralStorage: number
  /** The number of pods; nodes only. */
  pods: number
  /**
   * Extended resources, huge pages and the like, in whole units. Replaced on each change, so that copies may share it.
   */
  scalar: ReadonlyMap<string, number>
}

const noScalar: ReadonlyMap<string, number> = new Map()

/** Returns amounts of zero. */
export const noResources = (): Resources => ({ milliCPU: 0, memory: 0, ephemeralStorage: 0, pods: 0, scalar: noScalar })

/** Returns a copy. */
export const copyOf = (of: Resources): Resources => ({ ...of })

/** Adds `sign` times `other` to `to`. */
export function add(to: Resources, other: Resources, sign: 1 | -1 = 1): void {
  to.milliCPU += sign * other.milliCPU
  to.memory += sign * other.memory
  to.ephemeralStorage += sign * other.ephemeralStorage
  for (const [name, amount] of other.scalar) addScalar(to, name, sign * amount)
}

/** Makes each amount of `to` at least that of `other`. */
export function raise(to: Resources, other: Resources): void {
  to.milliCPU = Math.max(to.milliCPU, other.milliCPU)
  to.memory = Math.max(to.memory, other.memory)
  to.ephemeralStorage = Math.max(to.ephemeralStorage, other.ephemeralStorage)
  for (const [name, amount] of other.scalar) setScalar(to, name, Math.max(to.scalar.get(name) ?? 0, amount))
}

/** Sets the amount of an extended resource. */
export function setScalar(to: Resources, name: string, amount: number): void {
  to.scalar = new Map(to.scalar).set(name, amount)
}

function addScalar(to: Resources, name: string, amount: number): void {
  setScalar(to, name, (to.scalar.get(name) ?? 0) + amount)
}

/** The amounts of a list. Other names than scalar resources are left out, as upstream does. */
export function resourcesOf(list: ResourceList | undefined): Resources {
  const found = noResources()
  for (const name in list) setAmount(found, name, list[name] ?? '0')
  return found
}

/** Sets one resource by its name. */
export function setAmount(to: Resources, name: string, amount: string): void {
  if (name === 'cpu') to.milliCPU = milli(amount)
  else if (name === 'memory') to.memory = whole(amount)
  else if (name === 'ephemeral-storage') to.ephemeralStorage = whole(amount)
  else if (name === 'pods') to.pods = whole(amount)
  else if (isScalarName(name)) setScalar(to, name, whole(amount))
}

/** The amount of a resource by its name, in the units of Resources. */
export function amountOf(resources: Resources, name: string): number {
  if (name === 'cpu') return resources.milliCPU
  if (name === 'memory') return resources.memory
  if (name === 'ephemeral-storage') return resources.ephemeralStorage
  if (name === 'pods') return resources.pods
  return resources.scalar.get(name) ?? 0
}

/** Names with a domain, huge pages, and attachable volumes. */
const isScalarName = (name: string): boolean =>
  (name.includes('/') && (isExtendedResource(name) || isNativeResource(name))) ||
  isHugePages(name) ||
  name.startsWith('attachable-volumes-')

const cached = (read: (text: string) => bigint): ((text: string) => number) => {
  const known = new Map<string, number>()
  return (text) => {
    let value = known.get(text)
    if (value === undefined) {
      if (known.size >= 4096) known.clear()
      known.set(text, (value = Number(read(text))))
    }
    return value
  }
}

/** Thousandths of a quantity, rounded up. */
export const milli = cached(milliValue)
/** Whole units of a quantity, rounded up. */
export const whole = cached(wholeValue)
