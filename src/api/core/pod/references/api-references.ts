/**
 * The references of a pod to API objects. A mirror pod must have none: it would permit its node to read the referenced
 * object.
 */
import { configMapsOf, type Pod, secretsOf } from './object-names.ts'

type Volume = NonNullable<NonNullable<Pod['spec']>['volumes']>[number]
type Source = NonNullable<NonNullable<NonNullable<Volume['projected']>['sources']>[number]>

/** Fields of a volume, with upstream's texts. */
const volumeReferences: readonly (readonly [keyof Volume, string])[] = [
  ['configMap', 'configmaps (via configmap volumes)'],
  ['secret', 'secrets (via secret volumes)'],
  ['csi', 'csidrivers (via CSI volumes)'],
  ['glusterfs', 'endpoints (via glusterFS volumes)'],
  ['persistentVolumeClaim', 'persistentvolumeclaims'],
  ['ephemeral', 'persistentvolumeclaims (via ephemeral volumes)'],
  ['azureFile', 'secrets (via azureFile volumes)'],
]

/** Fields of a source of a projected volume. */
const sourceReferences: readonly (readonly [keyof Source, string])[] = [
  ['configMap', 'configmaps (via projected volumes)'],
  ['secret', 'secrets (via projected volumes)'],
  ['serviceAccountToken', 'serviceaccounts (via projected volumes)'],
  ['clusterTrustBundle', 'clustertrustbundles'],
  ['podCertificate', 'podcertificates'],
]

/** Returns the first reference; undefined if there is none. */
export function apiReference(pod: Pod): string | undefined {
  const { serviceAccountName, resourceClaims, volumes } = pod.spec ?? {}
  if (serviceAccountName) return 'a service account'
  if (secretsOf(pod).length > 0) return 'secrets'
  if (configMapsOf(pod).length > 0) return 'configmaps'
  if (resourceClaims?.length) return 'resourceclaims'
  for (const volume of volumes ?? []) {
    const found =
      volumeReferences.find(([field]) => volume[field]) ??
      (volume.projected?.sources ?? []).map(referenceOf).find((one) => one !== undefined)
    if (found) return found[1]
  }
  return undefined
}

const referenceOf = (source: Source) => sourceReferences.find(([field]) => source[field])
