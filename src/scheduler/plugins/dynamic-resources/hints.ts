/** Queueing hints: changes that may help a pod whose devices could not be allocated. */
import { isDeepStrictEqual } from 'node:util'
import type { ResourceClaim } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import { type EventRegistration, on, PodInfo } from '../../framework/index.ts'
import { claimsOf } from './claims/pod-claims.ts'

type Claims = Parameters<typeof claimsOf>[1]

export const events = (claims: Claims): readonly EventRegistration[] => [
  // The node may get the extended resource itself.
  on('Node', ['Add', 'UpdateLabel', 'UpdateAllocatable']),
  on('ResourceClaim', ['Add', 'Update', 'Delete'], (pod, before, after) => claimMayHelp(pod, before, after, claims)),
  on(
    'Pod',
    ['UpdateGeneratedResourceClaim'],
    (pod, _before, after) =>
      after !== undefined &&
      after.metadata.uid === pod.pod.metadata.uid &&
      typeof claimsOf(new PodInfo(after), claims) !== 'string',
  ),
  on('DeviceClass', ['Add', 'Update']),
  on('ResourceSlice', ['Add', 'Update']),
]

function claimMayHelp(
  pod: PodInfo,
  before: ResourceClaim | undefined,
  after: ResourceClaim | undefined,
  claims: Claims,
): boolean {
  const found = claimsOf(pod, claims)
  if (typeof found === 'string') return false
  // Deallocated devices may be the ones that the pod needs.
  if (before?.status?.allocation && !after?.status?.allocation) return true
  // The claim left by an earlier attempt was deleted.
  if (!after) return before !== undefined && controllerOf(before)?.uid === pod.pod.metadata.uid
  const isOwn = found.some(({ metadata }) => metadata.uid === after.metadata.uid)
  return isOwn && (!before || !isDeepStrictEqual(before.status, after.status))
}
