/** Which ResourceClaims a pod uses, and what those are called that are made for it (KEP-4381). */
import type { ResourceV1ResourceClaim, V1ResourceClaimTemplate } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import type { Pod } from '../core/pod/model.ts'

type ResourceClaim = Model<ResourceV1ResourceClaim>
type ResourceClaimTemplate = Model<V1ResourceClaimTemplate>

export type PodClaim = NonNullable<NonNullable<Pod['spec']>['resourceClaims']>[number]

/** Says which of a pod's claims a claim was made for. */
export const podClaimAnnotation = 'resource.kubernetes.io/pod-claim-name'

/** More than this the server would cut off behind generated characters. */
const longestBase = 57

/** The claim that a pod uses: its name, none where none is needed, or undefined where one has yet to be made. */
export function claimName(
  { status }: Pod,
  { name, resourceClaimName, resourceClaimTemplateName }: PodClaim,
): string | undefined {
  if (!resourceClaimTemplateName) return resourceClaimName ?? ''
  const told = status?.resourceClaimStatuses?.find((one) => one.name === name)
  return told && (told.resourceClaimName ?? '')
}

/** Whether a pod uses claims: its own, or one that was made for its extended resources (KEP-5004). */
export const usesClaims = ({ spec, status }: Pod): boolean =>
  (spec?.resourceClaims?.length ?? 0) > 0 || status?.extendedResourceClaimStatus !== undefined

/** Those that are known by name. */
export function claimNames(pod: Pod): string[] {
  const own = (pod.spec?.resourceClaims ?? []).flatMap((claim) => claimName(pod, claim) || [])
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  return extended ? [...own, extended] : own
}

/** The index of pods by the claims that they use. */
export const byClaim = (pod: Pod): Iterable<string> =>
  claimNames(pod).map((name) => `${pod.metadata.namespace}/${name}`)

/** What a claim's name begins with. Of long names, each part loses its share. */
export function generatedName(pod: string, claim: string): string {
  const whole = `${pod}-${claim}-`
  if (whole.length <= longestBase) return whole
  const cut = (text: string): string => text.slice(0, Math.floor((text.length * longestBase) / whole.length))
  return `${cut(pod)}-${cut(claim)}`
}

/** The claim to be made for a pod out of a template. */
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
