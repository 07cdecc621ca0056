/**
 * What is kept of a pod by those who do not run it. Names that are made up for each pod, such as that of its token's
 * volume, keep what pods of one owner have in common from being kept once: nobody but a kubelet looks at them, and
 * clusters have pods by the hundred thousand.
 */
import type { Pod } from '../kinds.ts'

type Spec = NonNullable<Pod['spec']>
type Container = Spec['containers'][number]
type Status = NonNullable<Pod['status']>
type ContainerStatus = NonNullable<Status['containerStatuses']>[number]

/**
 * The pod without managed fields, mounts, identities of containers, addresses of its node, and volumes that put
 * together what every pod is given: its account's token and the like. Volumes that name a Secret stay. It must not be
 * written back as a whole.
 */
export function leanPod({ apiVersion, kind, metadata: { managedFields: _, ...metadata }, spec, status }: Pod): Pod {
  return { apiVersion, kind, metadata, spec: spec && leanSpec(spec), status: status && leanStatus(status) }
}

const leanSpec = ({ volumes, containers, initContainers, ephemeralContainers, ...spec }: Spec): Spec => ({
  ...spec,
  containers: containers.map(withoutMounts),
  ...(initContainers && { initContainers: initContainers.map(withoutMounts) }),
  ...(ephemeralContainers && { ephemeralContainers: ephemeralContainers.map(withoutMounts) }),
  ...(volumes?.some(isKept) && { volumes: volumes.filter(isKept) }),
})

const isKept = ({ projected }: NonNullable<Spec['volumes']>[number]): boolean =>
  !projected || (projected.sources?.some(({ secret }) => secret) ?? false)

function withoutMounts<T extends Pick<Container, 'volumeMounts'>>({
  volumeMounts: _,
  ...container
}: T): Omit<T, 'volumeMounts'> {
  return container
}

const leanStatus = ({
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
