/**
 * The constraints of LimitRanges on requests and limits: a minimum, a maximum, and a maximum ratio of limit to request.
 */
import type { ResourceList } from '../../../api/core/quota/resource-list.ts'
import { canonicalQuantity, compareQuantities, milliValue } from '../../../machinery/values/quantity.ts'

/** The bounds of one item of a LimitRange. */
export interface Bounds {
  /** `Container`, `Pod`, `PersistentVolumeClaim`. */
  readonly type: string
  readonly min?: ResourceList
  readonly max?: ResourceList
  readonly maxLimitRequestRatio?: ResourceList
}

type Constraint = (
  name: string,
  type: string,
  bound: string,
  request: string | undefined,
  limit: string | undefined,
) => string | undefined

const atLeast: Constraint = (name, type, bound, request, limit) => {
  const start = `minimum ${name} usage per ${type} is ${canonicalQuantity(bound)}`
  if (request === undefined) return `${start}.  No request is specified`
  if (compareQuantities(request, bound) < 0) return `${start}, but request is ${canonicalQuantity(request)}`
  if (limit !== undefined && compareQuantities(limit, bound) < 0)
    return `${start}, but limit is ${canonicalQuantity(limit)}`
  return undefined
}

const atMost: Constraint = (name, type, bound, request, limit) => {
  const start = `maximum ${name} usage per ${type} is ${canonicalQuantity(bound)}`
  if (limit === undefined) return `${start}.  No limit is specified`
  if (compareQuantities(limit, bound) > 0) return `${start}, but limit is ${canonicalQuantity(limit)}`
  if (request !== undefined && compareQuantities(request, bound) > 0)
    return `${start}, but request is ${canonicalQuantity(request)}`
  return undefined
}

/** Claims have requests only. */
const requestAtMost: Constraint = (name, type, bound, request) => {
  const start = `maximum ${name} usage per ${type} is ${canonicalQuantity(bound)}`
  if (request === undefined) return `${start}.  No request is specified`
  return compareQuantities(request, bound) > 0 ? `${start}, but request is ${canonicalQuantity(request)}` : undefined
}

const ratioAtMost: Constraint = (name, type, bound, request, limit) => {
  const start = `${name} max limit to request ratio per ${type} is ${canonicalQuantity(bound)}`
  const requested = Number(milliValue(request ?? '0'))
  const limited = Number(milliValue(limit ?? '0'))
  if (requested === 0) return `${start}, but no request is specified or request is 0`
  if (limited === 0) return `${start}, but no limit is specified or limit is 0`
  const ratio = limited / requested
  return ratio * 1000 > Number(milliValue(bound)) ? `${start}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}

/**
 * Returns the violations of requests and limits, in upstream's words. Each constraint in the order of resource names.
 */
export function boundFaults(
  { type, min, max, maxLimitRequestRatio }: Bounds,
  requests: ResourceList = {},
  limits: ResourceList = {},
): string[] {
  const faults = (bounds: ResourceList | undefined, constraint: Constraint): string[] =>
    Object.keys(bounds ?? {})
      .sort()
      .flatMap((name) => constraint(name, type, bounds![name]!, requests[name], limits[name]) ?? [])
  return [...faults(min, atLeast), ...faults(max, atMost), ...faults(maxLimitRequestRatio, ratioAtMost)]
}

/** As `boundFaults` for claims, which have no limits. */
export function claimFaults({ type, min, max }: Bounds, requests: ResourceList = {}): string[] {
  const faults = (bounds: ResourceList | undefined, constraint: Constraint): string[] =>
    Object.keys(bounds ?? {})
      .sort()
      .flatMap((name) => constraint(name, type, bounds![name]!, requests[name], undefined) ?? [])
  return [...faults(min, atLeast), ...faults(max, requestAtMost)]
}

/** Joins distinct faults to one text. */
export function joinFaults(faults: readonly string[]): string {
  const texts = [...new Set(faults)]
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
}
