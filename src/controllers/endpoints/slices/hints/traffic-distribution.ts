/** Hints for a Service's `trafficDistribution` (KEP-4444, KEP-3015): each endpoint serves its own zone or node. */
import type { Service } from '../../../../client/kinds.ts'
import type { SlicePlan } from '../slice.ts'
import { isReadyEndpoint, removeHints, setHints } from './hinted-slices.ts'

const close = ['PreferClose', 'PreferSameZone', 'PreferSameNode']

/** Sets the hints that the Service requests, or removes all hints. */
export function withDistributionHints(plan: SlicePlan, { spec }: Service): SlicePlan {
  const distribution = spec?.trafficDistribution
  if (!distribution || !close.includes(distribution)) return removeHints(plan)
  return setHints(plan, (endpoint) => {
    const { zone, nodeName, hints } = endpoint
    // Unready endpoints are not used, so their hints may stay.
    if (!isReadyEndpoint(endpoint)) return hints
    const forNodes = distribution === 'PreferSameNode' && nodeName ? [{ name: nodeName }] : undefined
    if (!zone && !forNodes) return undefined
    return { ...(zone && { forZones: [{ name: zone }] }), ...(forNodes && { forNodes }) }
  })
}
