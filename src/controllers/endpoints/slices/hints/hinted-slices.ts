/** Sets and removes hints on slices. Hints name the zones or nodes from which an endpoint should be used. */
import type { EndpointSlice } from '../../../../client/kinds.ts'
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import type { Endpoint, SlicePlan } from '../slice.ts'

export type Hints = NonNullable<Endpoint['hints']>

export const isReadyEndpoint = ({ conditions }: Endpoint): boolean => conditions?.ready === true

/** Returns the slice with the hints of `hintsOf` for each endpoint. */
export const withHints = (slice: EndpointSlice, hintsOf: (endpoint: Endpoint) => Hints | undefined): EndpointSlice => ({
  ...slice,
  endpoints: (slice.endpoints ?? []).map((endpoint) => {
    const { hints: _, ...rest } = endpoint
    const hints = hintsOf(endpoint)
    return hints ? { ...rest, hints } : rest
  }),
})

/** Sets hints on all slices of a plan; slices with correct hints stay unchanged. */
export function setHints(plan: SlicePlan, hintsOf: (endpoint: Endpoint) => Hints | undefined): SlicePlan {
  const isRight = ({ endpoints }: EndpointSlice): boolean =>
    (endpoints ?? []).every((endpoint) => semanticallyEqual(endpoint.hints, hintsOf(endpoint)))
  const wrong = plan.unchanged.filter((slice) => !isRight(slice))
  return {
    create: plan.create.map((slice) => withHints(slice, hintsOf)),
    update: [...plan.update, ...wrong].map((slice) => withHints(slice, hintsOf)),
    remove: plan.remove,
    unchanged: plan.unchanged.filter(isRight),
  }
}

/** Removes all hints from a plan. */
export const removeHints = (plan: SlicePlan): SlicePlan => setHints(plan, () => undefined)
