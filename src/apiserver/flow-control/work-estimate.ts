/**
 * How wide a request is: how many seats it takes while it executes, and for how long after, for the events that it
 * causes (KEP-1040, "Width of requests"). The numbers are upstream's.
 */
import type { Request } from '../http/exchange.ts'
import type { RequestInfo } from '../request-info/request-info.ts'
import { flagParameter } from '../request-options/parameters.ts'
import { estimatedServiceSeconds } from './queuing/queue-set.ts'
import type { WatchCounts } from './watch-counts.ts'

/** What a collection weighs. Undefined for what is unknown, or served by somebody else. */
export type CollectionSize = (info: RequestInfo) => { readonly objects: number; readonly bytes: number } | undefined

export interface WorkEstimate {
  readonly initialSeats: number
  readonly finalSeats: number
  readonly lingerMs: number
}

const mostSeatsOfWrite = 10
const mostSeatsOfList = 100
const bytesPerSeat = 100_000
/** A list that is read from memory is sent piece by piece: more than this is never held for it. */
const mostBytesAtOnce = 1_000_000
const watchesPerSeat = 10
const lingerMsPerEvent = 5

const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, lingerMs: 0 }
const wide: readonly WorkEstimate[] = Array.from({ length: mostSeatsOfList + 1 }, (_, seats) => ({
  initialSeats: Math.max(1, seats),
  finalSeats: 0,
  lingerMs: 0,
}))

export interface Estimator {
  readonly size: CollectionSize
  readonly watches: WatchCounts
}

/** Told how many watches may see what a write changes. */
export interface WatchSamples {
  watched(count: number): void
}

/** `maxSeats` is the most that a request of this level takes; 0 for no bound of the level's own. */
export function estimateWork(
  { size, watches }: Estimator,
  { info, query }: Pick<Request, 'info' | 'query'>,
  maxSeats: number,
  samples?: WatchSamples,
): WorkEstimate {
  if (!info.isResourceRequest) return oneSeat
  switch (info.verb) {
    case 'list':
      return wide[listSeats(size, info, query, atMost(maxSeats, mostSeatsOfList))]!
    case 'watch':
      return beginsWithAll(query) ? wide[listSeats(size, info, query, atMost(maxSeats, mostSeatsOfList))]! : oneSeat
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return eventWork(watches, info, atMost(maxSeats, mostSeatsOfWrite), samples)
    default:
      return oneSeat
  }
}

/** Whether a watch begins by telling what is there: it asks for that, or names no version to go on from. */
function beginsWithAll(query: URLSearchParams): boolean {
  const version = query.get('resourceVersion')
  return !version || version === '0' || flagParameter(query, 'sendInitialEvents') === true
}

const atMost = (ofLevel: number, most: number): number => (ofLevel === 0 ? most : Math.min(ofLevel, most))

function listSeats(size: CollectionSize, info: RequestInfo, query: URLSearchParams, most: number): number {
  const limit = query.size === 0 ? 0 : Number(query.get('limit') ?? 0)
  // It is refused later on: until then nobody knows what it wants.
  if (!Number.isInteger(limit)) return most
  const collection = size(info)
  if (!collection || collection.objects === 0) return 1
  const { objects, bytes } = collection
  const read = info.name !== '' ? 1 : limit > 0 ? Math.min(limit, objects) : objects
  const atOnce = Math.min(read * (bytes / objects), mostBytesAtOnce)
  return Math.min(Math.max(1, Math.ceil(atOnce / bytesPerSeat)), most)
}

function eventWork(
  watches: WatchCounts,
  info: RequestInfo,
  most: number,
  samples: WatchSamples | undefined,
): WorkEstimate {
  // A token that is asked for is no object that changes.
  if (info.subresource === 'token') return oneSeat
  const count = watches.interested(info)
  samples?.watched(count)
  if (count < watchesPerSeat) return oneSeat
  const seats = Math.ceil(count / watchesPerSeat)
  const finalSeats = Math.min(seats, most)
  return { initialSeats: 1, finalSeats, lingerMs: (lingerMsPerEvent * seats) / finalSeats }
}

/** What a request takes at most at a time. */
export const seatsOf = ({ initialSeats, finalSeats }: WorkEstimate): number => Math.max(initialSeats, finalSeats)

/** The same work with fewer seats in the end: it takes longer. */
export const narrowed = ({ initialSeats, finalSeats, lingerMs }: WorkEstimate, most: number): WorkEstimate => ({
  initialSeats,
  finalSeats: most,
  lingerMs: (lingerMs * finalSeats) / most,
})

/** In seat-seconds, with what is usual for the time that nobody knows yet. */
export const workOf = ({ initialSeats, finalSeats, lingerMs }: WorkEstimate): number =>
  initialSeats * estimatedServiceSeconds + (finalSeats * lingerMs) / 1000
