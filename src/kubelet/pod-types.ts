/** The parts of pods that the kubelet works with. */
import type { Pod } from '../client/kinds.ts'
import { type Container, isSidecar, type PodSpec, type PodStatus } from '../node/pods/pod-types.ts'

export type { Pod } from '../client/kinds.ts'
export {
  type Container,
  type ContainerStatus,
  isSidecar,
  isTerminal,
  type PodSpec,
  type PodStatus,
} from '../node/pods/pod-types.ts'

/** `NAMESPACE/NAME`, for messages and logs. */
export const podName = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`

export const specOf = ({ spec }: Pod): PodSpec => spec ?? { containers: [] }

export const statusOf = ({ status }: Pod): PodStatus => status ?? {}

/** All containers of a pod in their order: init containers and sidecars, main, ephemeral. */
export const allContainers = (pod: Pod): readonly Container[] => {
  const { initContainers = [], containers, ephemeralContainers = [] } = specOf(pod)
  return [...initContainers, ...containers, ...(ephemeralContainers as readonly Container[])]
}

/** The containers whose restarts and probes a pod depends on: sidecars and main containers. */
export const longRunningContainers = (pod: Pod): readonly Container[] => {
  const { initContainers = [], containers } = specOf(pod)
  return [...initContainers.filter(isSidecar), ...containers]
}
