/** The ResourceClaims of a pod, and the generated ones (KEP-4381). */
import type { ResourceV1ResourceClaim, V1ResourceClaimTemplate } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import type { Pod } from '../core/pod/model.ts'

type ResourceClaim = Model<ResourceV1ResourceClaim>
type ResourceClaimTemplate = Model<V1ResourceClaimTemplate>

export type PodClaim = NonNullable<NonNullable<Pod['spec']>['resourceClaims']>[number]

/** On a generated claim: the name of the claim in the pod's spec. */
export const podClaimAnnotation = 'resource.kubernetes.io/pod-claim-name'

/** The server truncates longer generateNames. */
const maxBaseLength = 57

/** Returns the name of a pod's claim; empty if none is needed, undefined if it is not created yet. */
export function claimName(
  { status }: Pod,
  { name, resourceClaimName, resourceClaimTemplateName }: PodClaim,
): string | undefined {
  if (!resourceClaimTemplateName) return resourceClaimName ?? ''
  const claimStatus = status?.resourceClaimStatuses?.find((one) => one.name === name)
  return claimStatus && (claimStatus.resourceClaimName ?? '')
}

/** Returns true if a pod uses claims: its own, or a generated one for extended resources (KEP-5004). */
export const usesClaims = ({ spec, status }: Pod): boolean =>
  (spec?.resourceClaims?.length ?? 0) > 0 || status?.extendedResourceClaimStatus !== undefined

/** Returns the names of the pod's claims that exist already. */
export function claimNames(pod: Pod): string[] {
  const own = (pod.spec?.resourceClaims ?? []).flatMap((claim) => claimName(pod, claim) || [])
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  return extended ? [...own, extended] : own
}

/** Index function: pods by their claims. */
export const byClaim = (pod: Pod): Iterable<string> =>
  claimNames(pod).map((name) => `${pod.metadata.namespace}/${name}`)

/** Returns the generateName of a claim. Long parts are truncated in proportion. */
export function generatedName(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`
  if (whole.length <= maxBaseLength) return whole
  const cut = (text: string): string => text.slice(0, Math.floor((text.length * maxBaseLength) / whole.length))
  return `${cut(pod)}-${cut(claim)}`
}

/** Returns the claim to create for a pod from a template. */
export function claimFrom({ spec }: ResourceClaimTemplate, pod: Pod, podClaim: string): ResourceClaim {
  const { name = '', namespace, uid = '' } = pod.metadata
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      namespace,
      generateName: generatedName(name, podClaim),
      labels: spec.metadata?.labels,
      annotations: { ...spec.metadata?.annotations, [podClaimAnnotation]: podClaim },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: spec.spec,
  }
}
