/** Detects updates of a pod that may change a checked field. Most fields of a pod are immutable. */
import type { Pod, PodSpec } from '../../../api/core/pod/model.ts'
import type { AnyContainer } from './checks/check.ts'

type WithSpec = Pod & { readonly spec: PodSpec }

export function isSignificantUpdate(pod: WithSpec, old: WithSpec): boolean {
  const isChanged = (container: AnyContainer, before: AnyContainer | undefined): boolean => {
    if (!before || container.image !== before.image) return true
    const key = `container.seccomp.security.alpha.kubernetes.io/${container.name}`
    return pod.metadata.annotations?.[key] !== old.metadata.annotations?.[key]
  }
  const differ = (containers: readonly AnyContainer[], before: readonly AnyContainer[]): boolean =>
    containers.length !== before.length || containers.some((container, i) => isChanged(container, before[i]))
  return (
    differ(pod.spec.containers ?? [], old.spec.containers ?? []) ||
    differ(pod.spec.initContainers ?? [], old.spec.initContainers ?? []) ||
    (pod.spec.ephemeralContainers ?? []).some((container) =>
      isChanged(
        container,
        old.spec.ephemeralContainers?.find(({ name }) => name === container.name),
      ),
    )
  )
}
