/** The persistent volume behind a claim of a pod. */
import type { PersistentVolume, PersistentVolumeClaim } from '../../../client/kinds.ts'
import type { Pod } from '../../pod-types.ts'
import { notFoundMessage } from '../content/not-found.ts'
import type { VolumeObjects } from '../objects/volume-objects.ts'
import type { Volume } from '../volume-plugin.ts'

export interface ClaimReference {
  readonly name: string
  readonly isReadOnly: boolean
  /** True if the claim was made for this pod, from the volume's template. */
  readonly isEphemeral: boolean
}

/** The claim of a volume. Undefined for other kinds of volumes. */
export function claimOf(pod: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): ClaimReference | undefined {
  if (persistentVolumeClaim) {
    const { claimName, readOnly = false } = persistentVolumeClaim
    return { name: claimName, isReadOnly: readOnly, isEphemeral: false }
  }
  return ephemeral ? { name: `${pod.metadata.name}-${name}`, isReadOnly: false, isEphemeral: true } : undefined
}

type ClaimObjects = Pick<VolumeObjects, 'claim' | 'persistentVolume'>

/** Rejects with upstream's message while the claim is not bound. */
export async function boundVolume(
  pod: Pod,
  reference: ClaimReference,
  objects: ClaimObjects,
): Promise<PersistentVolume> {
  const { namespace = '', name: podName } = pod.metadata
  const { name, isEphemeral } = reference
  const failed = (message: string): Error => new Error(`error processing PVC ${namespace}/${name}: ${message}`)
  const claim = await objects.claim(namespace, name).catch((error: Error) => {
    throw failed(`failed to fetch PVC from API server: ${error.message}`)
  })
  if (!claim) throw failed(`failed to fetch PVC from API server: ${notFoundMessage('persistentvolumeclaims', name)}`)
  const problem = problemOf(claim)
  if (problem) throw failed(problem)
  if (isEphemeral && !isOwnedBy(claim, pod))
    throw new Error(`PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`)
  const volumeName = claim.spec?.volumeName ?? ''
  const volume = await objects.persistentVolume(volumeName).catch((error: Error) => {
    throw failed(`failed to fetch PV ${volumeName} from API server: ${error.message}`)
  })
  if (!volume)
    throw failed(
      `failed to fetch PV ${volumeName} from API server: ${notFoundMessage('persistentvolumes', volumeName)}`,
    )
  const mismatch = mismatchOf(volume, claim)
  if (mismatch) throw failed(mismatch)
  return volume
}

function problemOf({ metadata, spec, status }: PersistentVolumeClaim): string | undefined {
  if (metadata.deletionTimestamp) return 'PVC is being deleted'
  if (status?.phase !== 'Bound') return 'PVC is not bound'
  return spec?.volumeName ? undefined : 'PVC has empty pvc.Spec.VolumeName'
}

/** A volume may have been bound to an earlier claim of the same name. */
function mismatchOf({ metadata, spec }: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  const { claimRef } = spec ?? {}
  const found = `found PV object ${metadata.name} but`
  if (!claimRef) return `${found} it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`
  if (claimRef.uid === claim.metadata.uid) return undefined
  return `${found} its pv.Spec.ClaimRef.UID ${claimRef.uid} does not point to claim.UID ${claim.metadata.uid}`
}

const isOwnedBy = ({ metadata }: PersistentVolumeClaim, pod: Pod): boolean =>
  metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid) ?? false
