/**
 * Removes the fields of a pod that only its kubelet reads, for caches. Generated names, such as that of the token
 * volume, would also prevent that pods of one owner share memory, and clusters have hundreds of thousands of pods.
 */
import type { Pod } from '../kinds.ts'

type Spec = NonNullable<Pod['spec']>
type Container = Spec['containers'][number]
type Status = NonNullable<Pod['status']>
type ContainerStatus = NonNullable<Status['containerStatuses']>[number]

/**
 * Returns the pod without managed fields, mounts, container IDs, host IPs, and the projected volumes that every pod has
 * (its service account's token). Volumes that name a Secret are kept. The result must not be written back as a whole.
 */
export function trimPod({ apiVersion, kind, metadata: { managedFields: _, ...metadata }, spec, status }: Pod): Pod {
  return { apiVersion, kind, metadata, spec: spec && trimSpec(spec), status: status && trimStatus(status) }
}

const trimSpec = ({ volumes, containers, initContainers, ephemeralContainers, ...spec }: Spec): Spec => ({
  ...spec,
  containers: containers.map(withoutMounts),
  ...(initContainers && { initContainers: initContainers.map(withoutMounts) }),
  ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(withoutMounts) }),
  ...(volumes?.some(isRelevantVolume) && { volumes: volumes.filter(isRelevantVolume) }),
})

const isRelevantVolume = ({ projected }: NonNullable<Spec['volumes']>[number]): boolean =>
  !projected || (projected.sources?.some(({ secret }) => secret) ?? false)

function withoutMounts<T extends Pick<Container, 'volumeMounts'>>({
  volumeMounts: _,
  ...container
}: T): Omit<T, 'volumeMounts'> {
  return container
}

const trimStatus = ({
  hostIP: _,
  hostIPs: __,
  containerStatuses,
  initContainerStatuses,
  ...status
}: Status): Status => ({
  ...status,
  ...(containerStatuses && { containerStatuses: containerStatuses.map(withoutIdentity) }),
  ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(withoutIdentity) }),
})

function withoutIdentity({ containerID: _, volumeMounts: __, ...status }: ContainerStatus): ContainerStatus {
  return status
}
