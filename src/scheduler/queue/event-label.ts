/** The label of an event in metrics: `NodeUpdateNodeTaint`, `AssignedPodDelete`. */
import type { Pod } from '../../client/kinds.ts'
import type { ClusterEvent } from '../framework/cluster-events.ts'

export function eventLabel({ resource, action, before, after }: ClusterEvent): string {
  const isNamed = action.startsWith('Update') && action !== 'Update'
  if (resource === 'Node') return `Node${isNamed ? action.replace('Update', 'UpdateNode') : action}`
  if (resource !== 'Pod') return `${resource}${action}`
  const hasNode = Boolean(((after ?? before) as Pod | undefined)?.spec?.nodeName)
  return `${hasNode ? 'AssignedPod' : 'UnschedulablePod'}${isNamed ? action.replace('Update', 'UpdatePod') : action}`
}
