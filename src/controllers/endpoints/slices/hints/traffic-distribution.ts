/**
 * Hints by a Service's `trafficDistribution` (KEP-4444, KEP-3015): each endpoint serves its own zone, or its own node.
 */
import type { Service } from '../../../../client/kinds.ts'
import type { SlicePlan } from '../slice.ts'
import { hinted, isReadyEndpoint, unhinted } from './hinted-slices.ts'

const close = ['PreferClose', 'PreferSameZone', 'PreferSameNode']

/** The plan with the hints that the Service asks for, or without any. */
export function distributed(plan: SlicePlan, { spec }: Service): SlicePlan {
  const distribution = spec?.trafficDistribution
  if (!distribution || !close.includes(distribution)) return unhinted(plan)
  return hinted(plan, (endpoint) => {
    const { zone, nodeName, hints } = endpoint
    // What is not ready is not used: what stands there is as good as anything.
    if (!isReadyEndpoint(endpoint)) return hints
    const forNodes = distribution === 'PreferSameNode' && nodeName ? [{ name: nodeName }] : undefined
    if (!zone && !forNodes) return undefined
    return { ...(zone && { forZones: [{ name: zone }] }), ...(forNodes && { forNodes }) }
  })
}
