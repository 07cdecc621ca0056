/**
 * The restart of all containers of a pod in place (KEP-5532). If a container ends with an exit code of a rule with the
 * action `RestartAllContainers`, all containers are removed, and the pod starts with its init containers again. Its
 * sandbox, addresses and volumes remain, and so do ephemeral containers.
 */
import type { ContainerStatus } from '#protobuf/cri-runtime_pb.js'
import { containerNameOf } from '../../cri/labels.ts'
import { type Container, type Pod, type PodStatus, specOf, statusOf } from '../../pod-types.ts'
import { hasExited, newestContainer, type RuntimePod } from '../runtime-pod.ts'
import { startsRestartOfAll } from './restart-policy.ts'

/** The type of the condition of such a pod. */
export const restartingCondition = 'AllContainersRestarting'

/** A container to remove. */
export interface Removal {
  readonly id: string
  readonly container: Container
  /** True if it has not ended, and is killed before. */
  readonly isKilled: boolean
}

/** Init containers, sidecars and main containers. */
const resettable = (pod: Pod): readonly Container[] => [
  ...(specOf(pod).initContainers ?? []),
  ...specOf(pod).containers,
]

/** Returns true if a rule of some container can restart all. */
export const canRestartAll = (pod: Pod): boolean =>
  resettable(pod).some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  )

/** Returns true if a status says that all containers restart. */
export const isRestartingAll = ({ conditions }: PodStatus): boolean =>
  conditions?.some(({ type, status }) => type === restartingCondition && status === 'True') ?? false

/** Returns true if all containers have to restart, by the pod's last status and the state of the runtime. */
export function shouldRestartAll(pod: Pod, runtimePod: RuntimePod): boolean {
  if (!canRestartAll(pod)) return false
  const before = statusOf(pod)
  if (isRestartingAll(before)) return true
  const statuses = [...(before.initContainerStatuses ?? []), ...(before.containerStatuses ?? [])]
  return resettable(pod).some((container) => {
    const newest = newestContainer(runtimePod, container.name)
    if (newest && hasExited(newest) && startsRestartOfAll(container, newest)) return true
    const ended = statuses.find(({ name }) => name === container.name)?.state?.terminated
    return ended !== undefined && startsRestartOfAll(container, ended)
  })
}

/** Returns true if the runtime has no container of the pod any more, but ephemeral ones. */
export const isReset = (pod: Pod, runtimePod: RuntimePod): boolean =>
  resettable(pod).every(({ name }) => !newestContainer(runtimePod, name))

/**
 * The containers to remove, in upstream's order: main containers, then init containers, and last those that have caused
 * the restart, so that a kubelet that ends meanwhile knows of it.
 */
export function planRemovals(pod: Pod, runtimePod: RuntimePod): readonly Removal[] {
  const { initContainers = [], containers } = specOf(pod)
  const [main, init] = [containers, initContainers].map((all) => removalsOf(all, runtimePod))
  return [...main!.others, ...init!.others, ...main!.causes, ...init!.causes]
}

function removalsOf(all: readonly Container[], { containers }: RuntimePod) {
  const causes: Removal[] = []
  const others: Removal[] = []
  for (const container of all)
    for (const instance of containers.filter(({ labels }) => containerNameOf(labels) === container.name)) {
      const removal = { id: instance.id, container, isKilled: !hasExited(instance) }
      if (isCause(container, instance)) causes.push(removal)
      else others.push(removal)
    }
  return { causes, others }
}

const isCause = (container: Container, instance: ContainerStatus): boolean =>
  hasExited(instance) && startsRestartOfAll(container, instance)
