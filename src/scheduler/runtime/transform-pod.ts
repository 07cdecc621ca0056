/**
 * Reduces pods to what the scheduler caches: identity, constraints and resources. There may be tens of thousands of
 * pending pods, so whatever the pods of one owner have in common must be equal in all of them.
 */
import type { Pod } from '../../client/kinds.ts'
import { trimPod } from '../../client/objects/trim-pod.ts'

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export function transformPod(pod: Pod): Pod {
  const { status, ...lean } = trimPod(pod)
  if (!status) return lean
  const { podIP: _, podIPs: __, containerStatuses, initContainerStatuses, ...remaining } = status
  return {
    ...lean,
    status: {
      ...remaining,
      ...(containerStatuses && { containerStatuses: containerStatuses.map(leanStatus) }),
      ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(leanStatus) }),
    },
  }
}

/** During a resize, a container still uses its old resources. */
const leanStatus = ({
  name,
  image,
  imageID,
  ready,
  restartCount,
  resources,
  allocatedResources,
}: ContainerStatus): ContainerStatus => ({
  name,
  image,
  imageID,
  ready,
  restartCount,
  ...(resources && { resources }),
  ...(allocatedResources && { allocatedResources }),
})
