/**
 * What the scheduler keeps of a pod: what it is placed by, what it takes of its node, and who it is. Pods that wait to
 * be placed may be tens of thousands: what those of one owner have in common has to be the same in all of them.
 */
import type { Pod } from '../../client/kinds.ts'
import { leanPod } from '../../client/objects/lean-pod.ts'

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export function keptPod(pod: Pod): Pod {
  const { status, ...lean } = leanPod(pod)
  if (!status) return lean
  const { podIP: _, podIPs: __, containerStatuses, initContainerStatuses, ...kept } = status
  return {
    ...lean,
    status: {
      ...kept,
      ...(containerStatuses && { containerStatuses: containerStatuses.map(room) }),
      ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(room) }),
    },
  }
}

/** A container that is being resized has what it had. */
const room = ({
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
