/** What the scheduler keeps of a pod: all of one that it has to place, of others what they take of their node and who they are. */
import type { Pod } from '../../client/kinds.ts'
import { leanPod } from '../../client/objects/lean-pod.ts'

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

/** Makes pods smaller that have a node. */
export function keptPod(pod: Pod): Pod {
  if (!pod.spec?.nodeName) return withoutManagedFields(pod)
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

const withoutManagedFields = ({ metadata: { managedFields: _, ...metadata }, ...pod }: Pod): Pod => ({ ...pod, metadata })

/** A container that is being resized has what it had. */
const room = ({ name, image, imageID, ready, restartCount, resources, allocatedResources }: ContainerStatus): ContainerStatus => ({
  name,
  image,
  imageID,
  ready,
  restartCount,
  ...(resources && { resources }),
  ...(allocatedResources && { allocatedResources }),
})
