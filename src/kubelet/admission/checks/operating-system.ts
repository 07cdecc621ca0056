/** Checks of what a pod expects of the node's operating system and runtime, in upstream's words. */
import type { Node } from '../../../client/kinds.ts'
import { allContainers, type Pod, specOf, statusOf } from '../../pod-types.ts'
import type { Rejection } from '../rejection.ts'

const osLabel = 'kubernetes.io/os'

/** Rejects pods for other operating systems than Linux. */
export function checkOs(pod: Pod): Rejection | undefined {
  const label = pod.metadata.labels?.[osLabel]
  if (label !== undefined && label !== 'linux')
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    }
  const { os } = specOf(pod)
  return os && os.name !== 'linux'
    ? { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
    : undefined
}

/** Rejects pods with a strict policy for groups if the runtime does not know it (KEP-3619). */
export function checkGroupsPolicy(pod: Pod, { status }: Node): Rejection | undefined {
  if (specOf(pod).securityContext?.supplementalGroupsPolicy !== 'Strict') return undefined
  if (status?.features?.supplementalGroupsPolicy) return undefined
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  }
}

/** Rejects pending pods with a profile of AppArmor if the kernel has it not enabled. */
export function checkAppArmor(pod: Pod, isEnabled: boolean): Rejection | undefined {
  if (isEnabled || (statusOf(pod).phase ?? 'Pending') !== 'Pending' || !needsAppArmor(pod)) return undefined
  return { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' }
}

const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

function needsAppArmor(pod: Pod): boolean {
  const contexts = [specOf(pod).securityContext, ...allContainers(pod).map(({ securityContext }) => securityContext)]
  if (contexts.some((one) => one?.appArmorProfile && one.appArmorProfile.type !== 'Unconfined')) return true
  return Object.entries(pod.metadata.annotations ?? {}).some(
    ([name, value]) => name.startsWith(appArmorPrefix) && value !== 'unconfined',
  )
}
