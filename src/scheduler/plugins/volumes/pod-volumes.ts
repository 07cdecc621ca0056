/** The claims of a pod's volumes, or upstream's reasons why they are unusable. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../client/kinds.ts'
import { controllerOf } from '../../../client/objects/owners.ts'
import type { Lister, PodInfo } from '../../framework/index.ts'

export type PodVolume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]

/** The name of a volume's claim: given, or generated for an ephemeral volume. */
export function claimNameOf(
  { name: pod }: PodInfo,
  { name, persistentVolumeClaim, ephemeral }: PodVolume,
): string | undefined {
  if (persistentVolumeClaim) return persistentVolumeClaim.claimName
  return ephemeral ? `${pod}-${name}` : undefined
}

/** A claim of a pod, or the reason why it is missing. */
export type FoundClaim = { readonly claim: PersistentVolumeClaim } | { readonly missing: string }

/** The claims of a pod, in the order of its volumes. */
export function claimsOf(pod: PodInfo, claims: Pick<Lister<PersistentVolumeClaim>, 'get'>): FoundClaim[] {
  return (pod.pod.spec?.volumes ?? []).flatMap((volume) => {
    const name = claimNameOf(pod, volume)
    if (name === undefined) return []
    const claim = claims.get(pod.namespace, name)
    if (!claim) {
      const waits = `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      return { missing: volume.ephemeral ? waits : `persistentvolumeclaim "${name}" not found` }
    }
    const fault = faultOf(pod, claim, volume.ephemeral !== undefined)
    return fault === undefined ? { claim } : { missing: fault }
  })
}

function faultOf(pod: PodInfo, claim: PersistentVolumeClaim, isEphemeral: boolean): string | undefined {
  const { name = '', deletionTimestamp } = claim.metadata
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec?.volumeName ?? ''}"`
  if (deletionTimestamp) return `persistentvolumeclaim "${name}" is being deleted`
  if (isEphemeral && controllerOf(claim)?.uid !== pod.pod.metadata.uid)
    return `PVC ${pod.namespace}/${name} was not created for pod ${pod.key} (pod is not owner)`
  return undefined
}

/** Returns true if the claim is one of the pod's. */
export const usesClaim = (pod: PodInfo, claim: PersistentVolumeClaim | undefined): boolean =>
  claim !== undefined && pod.claims.includes(`${claim.metadata.namespace}/${claim.metadata.name}`)

/** The zones in a volume's label, which may list several. */
export const zonesOf = (label: string): ReadonlySet<string> => new Set(label.split('__').map((zone) => zone.trim()))

export type VolumeSource = Pick<
  NonNullable<PersistentVolume['spec']>,
  'awsElasticBlockStore' | 'gcePersistentDisk' | 'azureDisk' | 'cinder' | 'vsphereVolume'
>
