/** Assigns endpoints to slices so that few slices are written, rather than that few slices exist (KEP-752). */
import type { EndpointSlice } from '../../../client/kinds.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { type Endpoint, identityOf, type SlicePlan } from './slice.ts'

export interface PackOptions {
  /** Existing slices with the ports of the desired endpoints. */
  readonly existing: readonly EndpointSlice[]
  readonly desired: readonly Endpoint[]
  /** Maximum number of endpoints in a slice. */
  readonly max: number
  /** Returns a new empty slice. */
  createEmpty(): EndpointSlice
  /** Returns the slice with correct labels; the same object if they are correct. */
  withLabels(slice: EndpointSlice): EndpointSlice
}

export function pack({ existing, desired, max, createEmpty, withLabels }: PackOptions): SlicePlan {
  const unassigned = new Map(desired.map((endpoint) => [identityOf(endpoint), endpoint]))
  const update: EndpointSlice[] = []
  const remove: EndpointSlice[] = []
  let unchanged: EndpointSlice[] = []
  for (const slice of existing) {
    const current = slice.endpoints ?? []
    const retained: Endpoint[] = []
    let isChanged = false
    for (const endpoint of current) {
      const identity = identityOf(endpoint)
      const next = unassigned.get(identity)
      if (!next) continue
      unassigned.delete(identity)
      retained.push(next)
      isChanged ||= !isSame(endpoint, next)
    }
    const relabelled = withLabels(slice)
    if (retained.length === 0 && current.length > 0) remove.push(slice)
    else if (isChanged || retained.length !== current.length) update.push({ ...relabelled, endpoints: retained })
    else if (relabelled !== slice) update.push(relabelled)
    else unchanged.push(slice)
  }
  fill(update, unassigned, max)
  const create: EndpointSlice[] = []
  while (unassigned.size > 0) {
    // The remaining endpoints may fit into an unchanged slice: use the fullest one.
    const reusable = unassigned.size < max ? fullestWithSpace(unchanged, unassigned.size, max) : undefined
    if (reusable) unchanged = unchanged.filter((slice) => slice !== reusable)
    const slice = reusable ? { ...reusable, endpoints: [...(reusable.endpoints ?? [])] } : createEmpty()
    const filled = {
      ...slice,
      endpoints: [...(slice.endpoints ?? []), ...take(unassigned, max - (slice.endpoints?.length ?? 0))],
    }
    if (reusable) update.push(filled)
    else create.push(filled)
  }
  return { create, update, remove, unchanged }
}

/** Returns true if only hints differ. */
function isSame({ hints: _, ...a }: Endpoint, { hints: _other, ...b }: Endpoint): boolean {
  return semanticallyEqual(a, b)
}

/** Fills slices that are updated anyway with unassigned endpoints, the fullest first. */
function fill(slices: EndpointSlice[], unassigned: Map<string, Endpoint>, max: number): void {
  slices.sort((a, b) => (b.endpoints?.length ?? 0) - (a.endpoints?.length ?? 0))
  for (const [at, slice] of slices.entries()) {
    const endpoints = slice.endpoints ?? []
    if (unassigned.size > 0 && endpoints.length < max)
      slices[at] = { ...slice, endpoints: [...endpoints, ...take(unassigned, max - endpoints.length)] }
  }
}

/** Takes at most `count` unassigned endpoints. */
function take(unassigned: Map<string, Endpoint>, count: number): Endpoint[] {
  const taken = [...unassigned].slice(0, count)
  for (const [identity] of taken) unassigned.delete(identity)
  return taken.map(([, endpoint]) => endpoint)
}

function fullestWithSpace(slices: readonly EndpointSlice[], count: number, max: number): EndpointSlice | undefined {
  const length = ({ endpoints }: EndpointSlice): number => endpoints?.length ?? 0
  // Upstream prefers a new slice to an empty one, so that empty ones are deleted.
  const reusable = slices.filter((slice) => length(slice) + count <= max && max - length(slice) - count < max)
  return reusable.reduce<EndpointSlice | undefined>(
    (best, slice) => (best && length(best) >= length(slice) ? best : slice),
    undefined,
  )
}
