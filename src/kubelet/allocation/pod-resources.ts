/** The resources of a pod apart from its spec: those that the node has allocated, or that its cgroups have. */
import { semanticallyEqual } from '../../machinery/equality.ts'
import { type Container, type Pod, type PodSpec, specOf, statusOf } from '../pod-types.ts'

export type Requirements = NonNullable<Container['resources']>

export interface PodResources {
  /** By name of the container; init containers and sidecars too. */
  readonly containers: Readonly<Record<string, Requirements>>
  readonly pod?: Requirements
}

export function resourcesOfSpec(pod: Pod): PodResources {
  const { initContainers = [], containers, resources } = specOf(pod)
  return {
    containers: Object.fromEntries([...initContainers, ...containers].map((one) => [one.name, one.resources ?? {}])),
    ...(resources && { pod: resources }),
  }
}

/**
 * The resources that the status of a pod names as allocated, for a kubelet that has lost its own record; those of the
 * spec for containers that have not run.
 */
export function resourcesOfStatus(pod: Pod): PodResources {
  const { containerStatuses = [], initContainerStatuses = [] } = statusOf(pod)
  const { containers, pod: whole } = resourcesOfSpec(pod)
  const known = [...initContainerStatuses, ...containerStatuses].flatMap(({ name, allocatedResources, resources }) => {
    if (!resources || !containers[name]) return []
    const { limits } = resources
    const requests = allocatedResources ?? resources.requests
    return [[name, { ...containers[name], ...(limits && { limits }), ...(requests && { requests }) }] as const]
  })
  return { containers: { ...containers, ...Object.fromEntries(known) }, ...(whole && { pod: whole }) }
}

/** Returns the pod with these resources in its spec; the pod itself if it has them. */
export function withResources(pod: Pod, resources: PodResources): Pod {
  const spec = specOf(pod)
  const replace = (container: Container): Container => {
    const own = resources.containers[container.name]
    return own === undefined || semanticallyEqual(own, container.resources)
      ? container
      : { ...container, resources: own }
  }
  const containers = spec.containers.map(replace)
  const initContainers = spec.initContainers?.map(replace)
  const hasSame =
    semanticallyEqual(spec.resources, resources.pod) &&
    containers.every((one, i) => one === spec.containers[i]) &&
    (initContainers ?? []).every((one, i) => one === spec.initContainers?.[i])
  if (hasSame) return pod
  const { resources: _, ...rest } = spec
  const changed: PodSpec = {
    ...rest,
    containers,
    ...(initContainers && { initContainers }),
    ...(resources.pod && { resources: resources.pod }),
  }
  return { ...pod, spec: changed }
}
