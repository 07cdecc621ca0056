/** Hints say which zones or nodes an endpoint should be used from; here they are put on slices and taken off again. */
import type { EndpointSlice } from '../../../../client/kinds.ts'
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import type { Endpoint, SlicePlan } from '../slice.ts'

export type Hints = NonNullable<Endpoint['hints']>

export const isReadyEndpoint = ({ conditions }: Endpoint): boolean => conditions?.ready === true

/** The slice with the hints that `hintsOf` gives for each endpoint. */
export const withHints = (slice: EndpointSlice, hintsOf: (endpoint: Endpoint) => Hints | undefined): EndpointSlice => ({
  ...slice,
  endpoints: (slice.endpoints ?? []).map((endpoint) => {
    const { hints: _, ...rest } = endpoint
    const hints = hintsOf(endpoint)
    return hints ? { ...rest, hints } : rest
  }),
})

/** The plan with these hints on all slices: those that have them already stay unchanged. */
export function hinted(plan: SlicePlan, hintsOf: (endpoint: Endpoint) => Hints | undefined): SlicePlan {
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

/** The plan without any hints. */
export const unhinted = (plan: SlicePlan): SlicePlan => hinted(plan, () => undefined)
