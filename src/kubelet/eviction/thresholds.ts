/** Thresholds of evictions, from `evictionHard`, `evictionSoft` and others, with upstream's messages. */
import { parseDurationMs } from '../../lib/duration.ts'
import { canonicalQuantity, isQuantity, parseQuantity, signOf, wholeValue } from '../../machinery/values/quantity.ts'
import { isSignal, type Signal } from './signals.ts'

/** A quantity, or a part of the capacity. */
export type Amount = { readonly quantity: string } | { readonly part: number }

export interface Threshold {
  readonly signal: Signal
  readonly value: Amount
  /** The time in ms that it must be crossed; 0 for a hard threshold. */
  readonly graceMs: number
  /** Added to the value once it is crossed. */
  readonly minReclaim?: Amount
}

type Statements = Readonly<Record<string, string>>

export interface ThresholdSettings {
  readonly evictionHard: Statements
  readonly evictionSoft: Statements
  readonly evictionSoftGracePeriod: Statements
  readonly evictionMinimumReclaim: Statements
}

/** Hard thresholds come first, then soft ones. Throws an Error. */
export function parseThresholds(settings: ThresholdSettings): Threshold[] {
  const periods = parseAll(settings.evictionSoftGracePeriod, gracePeriodOf)
  const reclaims = parseAll(settings.evictionMinimumReclaim, reclaimOf)
  const hard = [...parseAll(settings.evictionHard, thresholdValue)].map(([signal, value]) => ({
    signal,
    value,
    graceMs: 0,
  }))
  const soft = [...parseAll(settings.evictionSoft, thresholdValue)].map(([signal, value]) => {
    const graceMs = periods.get(signal)
    if (graceMs === undefined)
      throw new Error(`grace period must be specified for the soft eviction threshold ${signal}`)
    return { signal, value, graceMs }
  })
  const all = [...hard, ...soft].flatMap(({ value, ...one }) => (value === undefined ? [] : [{ ...one, value }]))
  return all.map((one) => {
    const minReclaim = reclaims.get(one.signal)
    return minReclaim ? { ...one, minReclaim } : one
  })
}

function parseAll<T>(statements: Statements, parse: (signal: Signal, text: string) => T): Map<Signal, T> {
  return new Map(
    Object.entries(statements).map(([signal, text]) => {
      if (!isSignal(signal)) throw new Error(`unsupported eviction signal ${signal}`)
      return [signal, parse(signal, text)]
    }),
  )
}

/** Undefined if the threshold is turned off. */
function thresholdValue(signal: Signal, text: string): Amount | undefined {
  if (text.endsWith('%')) {
    if (text === '0%' || text === '100%') return undefined
    const part = partOf(text)
    if (part < 0) throw new Error(`eviction percentage threshold ${signal} must be >= 0%: ${text}`)
    if (part > 1) throw new Error(`eviction percentage threshold ${signal} must be <= 100%: ${text}`)
    return { part }
  }
  const quantity = quantityOf(text)
  if (signOf(quantity) <= 0) throw new Error(`eviction threshold ${signal} must be positive: ${quantity}`)
  return { quantity }
}

function gracePeriodOf(_signal: Signal, text: string): number {
  const ms = durationOf(text.replace(/^-/, ''))
  if (text.startsWith('-') && ms > 0)
    throw new Error(`invalid eviction grace period specified: ${text}, must be a positive value`)
  return ms
}

function durationOf(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new Error(`time: invalid duration ${JSON.stringify(text)}`)
  return ms
}

function reclaimOf(signal: Signal, text: string): Amount {
  if (text.endsWith('%')) {
    const part = partOf(text)
    if (part <= 0) throw new Error(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`)
    return { part }
  }
  const quantity = quantityOf(text)
  if (signOf(quantity) < 0) throw new Error(`negative eviction minimum reclaim specified for ${signal}`)
  return { quantity }
}

/** As Go's 32-bit numbers, which decide the last digits of messages. */
function partOf(text: string): number {
  const digits = text.replace(/%+$/, '')
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits))
    throw new Error(`strconv.ParseFloat: parsing ${JSON.stringify(digits)}: invalid syntax`)
  return Math.fround(Math.fround(Number(digits)) / 100)
}

function quantityOf(text: string): string {
  if (!isQuantity(text)) parseQuantity(text)
  return canonicalQuantity(text)
}

/** The amount for a capacity, in bytes or a number of inodes or processes. */
export const amountOf = (amount: Amount, capacity: number): number =>
  'quantity' in amount ? Number(wholeValue(amount.quantity)) : Math.trunc(capacity * amount.part)

/** The amount as upstream prints it. */
export const amountText = (amount: Amount, capacity: number): string =>
  'quantity' in amount ? amount.quantity : bytesText(amountOf(amount, capacity))

/** For example `5Mi`; digits alone if the number is not a multiple of 1024. */
export const bytesText = (bytes: number): string =>
  bytes % 1024 === 0 ? canonicalQuantity(`${bytes / 1024}Ki`) : String(bytes)

/** Returns true if one threshold is another, as of an earlier time. */
export const sameThreshold = (a: Threshold, b: Threshold): boolean =>
  a.signal === b.signal && a.graceMs === b.graceMs && JSON.stringify(a.value) === JSON.stringify(b.value)

/**
 * Adds the thresholds that follow from others: those of the memory of all pods, and those of the containers' file
 * system, which is that of images if those have one of their own, and the kubelet's otherwise.
 */
export function withDerivedThresholds(all: readonly Threshold[], hasImageFileSystem: boolean): Threshold[] {
  const own = all.filter(({ signal }) => !signal.startsWith('containerfs.'))
  const source = hasImageFileSystem ? 'imagefs' : 'nodefs'
  const derived = own.flatMap((one): Threshold[] => {
    if (one.signal === 'memory.available' && one.graceMs === 0)
      return [{ ...one, signal: 'allocatableMemory.available' }]
    if (one.signal === `${source}.available`) return [{ ...one, signal: 'containerfs.available' }]
    if (one.signal === `${source}.inodesFree`) return [{ ...one, signal: 'containerfs.inodesFree' }]
    return []
  })
  return [...own, ...derived]
}
