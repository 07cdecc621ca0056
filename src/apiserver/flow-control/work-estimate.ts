/**
 * Estimates the width of a request: the seats that it takes while it executes, and how long they stay occupied for the
 * events that it causes (KEP-1040, "Width of requests"). The numbers are upstream's.
 */
import type { Request } from '../http/exchange.ts'
import type { RequestInfo } from '../request-info/request-info.ts'
import { flagParameter } from '../request-options/parameters.ts'
import { estimatedServiceSeconds } from './queuing/queue-set.ts'
import type { WatchCounts } from './watch-counts.ts'

/** The size of a collection. Undefined if it is unknown, or served by another server. */
export type CollectionSize = (info: RequestInfo) => { readonly objects: number; readonly bytes: number } | undefined

export interface WorkEstimate {
  readonly initialSeats: number
  readonly finalSeats: number
  readonly lingerMs: number
}

const maxWriteSeats = 10
const maxListSeats = 100
const bytesPerSeat = 100_000
/** A list from memory is sent in pieces: no more than this is buffered for it. */
const maxBufferedBytes = 1_000_000
const watchesPerSeat = 10
const lingerMsPerEvent = 5

const oneSeat: WorkEstimate = { initialSeats: 1, finalSeats: 0, lingerMs: 0 }
const estimatesBySeats: readonly WorkEstimate[] = Array.from({ length: maxListSeats + 1 }, (_, seats) => ({
  initialSeats: Math.max(1, seats),
  finalSeats: 0,
  lingerMs: 0,
}))

export interface Estimator {
  readonly size: CollectionSize
  readonly watches: WatchCounts
}

/** Observes the number of watches that may see what a write changes. */
export interface WatchSamples {
  watched(count: number): void
}

/** `maxSeats` is the maximum for a request of this level; 0 for no limit. */
export function estimateWork(
  { size, watches }: Estimator,
  { info, query }: Pick<Request, 'info' | 'query'>,
  maxSeats: number,
  samples?: WatchSamples,
): WorkEstimate {
  if (!info.isResourceRequest) return oneSeat
  switch (info.verb) {
    case 'list':
      return estimatesBySeats[listSeats(size, info, query, atMost(maxSeats, maxListSeats))]!
    case 'watch':
      return beginsWithAll(query)
        ? estimatesBySeats[listSeats(size, info, query, atMost(maxSeats, maxListSeats))]!
        : oneSeat
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return eventWork(watches, info, atMost(maxSeats, maxWriteSeats), samples)
    default:
      return oneSeat
  }
}

/** True if a watch begins with the state: by an option, or because it names no version to start from. */
function beginsWithAll(query: URLSearchParams): boolean {
  const version = query.get('resourceVersion')
  return !version || version === '0' || flagParameter(query, 'sendInitialEvents') === true
}

const atMost = (levelMax: number, most: number): number => (levelMax === 0 ? most : Math.min(levelMax, most))

function listSeats(size: CollectionSize, info: RequestInfo, query: URLSearchParams, most: number): number {
  const limit = query.size === 0 ? 0 : Number(query.get('limit') ?? 0)
  // It is rejected later: until then its size is unknown.
  if (!Number.isInteger(limit)) return most
  const collection = size(info)
  if (!collection || collection.objects === 0) return 1
  const { objects, bytes } = collection
  const read = info.name !== '' ? 1 : limit > 0 ? Math.min(limit, objects) : objects
  const buffered = Math.min(read * (bytes / objects), maxBufferedBytes)
  return Math.min(Math.max(1, Math.ceil(buffered / bytesPerSeat)), most)
}

function eventWork(
  watches: WatchCounts,
  info: RequestInfo,
  most: number,
  samples: WatchSamples | undefined,
): WorkEstimate {
  // A token request changes no object.
  if (info.subresource === 'token') return oneSeat
  const count = watches.interested(info)
  samples?.watched(count)
  if (count < watchesPerSeat) return oneSeat
  const seats = Math.ceil(count / watchesPerSeat)
  const finalSeats = Math.min(seats, most)
  return { initialSeats: 1, finalSeats, lingerMs: (lingerMsPerEvent * seats) / finalSeats }
}

/** The most seats that a request occupies at a time. */
export const seatsOf = ({ initialSeats, finalSeats }: WorkEstimate): number => Math.max(initialSeats, finalSeats)

/** The same work with fewer final seats, which linger longer. */
export const narrowed = ({ initialSeats, finalSeats, lingerMs }: WorkEstimate, most: number): WorkEstimate => ({
  initialSeats,
  finalSeats: most,
  lingerMs: (lingerMs * finalSeats) / most,
})

/** In seat-seconds, with an assumed service time. */
export const workOf = ({ initialSeats, finalSeats, lingerMs }: WorkEstimate): number =>
  initialSeats * estimatedServiceSeconds + (finalSeats * lingerMs) / 1000
