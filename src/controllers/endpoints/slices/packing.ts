/**
 * Which endpoint goes into which slice: as few slices are written as can be, rather than as few slices be there
 * (KEP-752).
 */
import type { EndpointSlice } from '../../../client/kinds.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { type Endpoint, identityOf, type SlicePlan } from './slice.ts'

export interface Packing {
  /** Slices with the ports of the wanted endpoints. */
  readonly existing: readonly EndpointSlice[]
  readonly wanted: readonly Endpoint[]
  /** At most so many endpoints are in a slice. */
  readonly max: number
  /** An empty slice. */
  fresh(): EndpointSlice
  /** The slice with the labels that it should have; the same one if it has them. */
  labelled(slice: EndpointSlice): EndpointSlice
}

export function pack({ existing, wanted, max, fresh, labelled }: Packing): SlicePlan {
  const left = new Map(wanted.map((endpoint) => [identityOf(endpoint), endpoint]))
  const update: EndpointSlice[] = []
  const remove: EndpointSlice[] = []
  let unchanged: EndpointSlice[] = []
  for (const slice of existing) {
    const present = slice.endpoints ?? []
    const kept: Endpoint[] = []
    let isChanged = false
    for (const endpoint of present) {
      const identity = identityOf(endpoint)
      const next = left.get(identity)
      if (!next) continue
      left.delete(identity)
      kept.push(next)
      isChanged ||= !isSame(endpoint, next)
    }
    const relabelled = labelled(slice)
    if (kept.length === 0 && present.length > 0) remove.push(slice)
    else if (isChanged || kept.length !== present.length) update.push({ ...relabelled, endpoints: kept })
    else if (relabelled !== slice) update.push(relabelled)
    else unchanged.push(slice)
  }
  fill(update, left, max)
  const create: EndpointSlice[] = []
  while (left.size > 0) {
    // What is left may fit into a slice that nothing has changed yet: the fullest of those is taken.
    const roomy = left.size < max ? fullestWithRoom(unchanged, left.size, max) : undefined
    if (roomy) unchanged = unchanged.filter((slice) => slice !== roomy)
    const slice = roomy ? { ...roomy, endpoints: [...(roomy.endpoints ?? [])] } : fresh()
    const filled = {
      ...slice,
      endpoints: [...(slice.endpoints ?? []), ...take(left, max - (slice.endpoints?.length ?? 0))],
    }
    if (roomy) update.push(filled)
    else create.push(filled)
  }
  return { create, update, remove, unchanged }
}

/** Whether nothing but hints is different. */
function isSame({ hints: _, ...a }: Endpoint, { hints: _other, ...b }: Endpoint): boolean {
  return semanticallyEqual(a, b)
}

/** Puts what is left into slices that are written anyway, the fullest first. */
function fill(slices: EndpointSlice[], left: Map<string, Endpoint>, max: number): void {
  slices.sort((a, b) => (b.endpoints?.length ?? 0) - (a.endpoints?.length ?? 0))
  for (const [at, slice] of slices.entries()) {
    const endpoints = slice.endpoints ?? []
    if (left.size > 0 && endpoints.length < max)
      slices[at] = { ...slice, endpoints: [...endpoints, ...take(left, max - endpoints.length)] }
  }
}

/** Takes at most so many out of what is left. */
function take(left: Map<string, Endpoint>, count: number): Endpoint[] {
  const taken = [...left].slice(0, count)
  for (const [identity] of taken) left.delete(identity)
  return taken.map(([, endpoint]) => endpoint)
}

function fullestWithRoom(slices: readonly EndpointSlice[], count: number, max: number): EndpointSlice | undefined {
  const length = ({ endpoints }: EndpointSlice): number => endpoints?.length ?? 0
  // An empty slice is as good as a new one; upstream prefers the new one, so that empty ones go.
  const roomy = slices.filter((slice) => length(slice) + count <= max && max - length(slice) - count < max)
  return roomy.reduce<EndpointSlice | undefined>(
    (best, slice) => (best && length(best) >= length(slice) ? best : slice),
    undefined,
  )
}
