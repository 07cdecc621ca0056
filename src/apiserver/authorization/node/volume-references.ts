/** The secrets of a volume that nodes read to mount it. Nodes do not need the secrets of the driver's controller. */
import type { V1PersistentVolume } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import type { VolumeEdges } from './node-graph.ts'

export type Volume = Model<V1PersistentVolume>

interface SecretReference {
  readonly name?: string
  readonly namespace?: string
}

/** Returns undefined for an unbound volume. References without a namespace are in the claim's namespace. */
export function volumeEdges({ metadata, spec }: Volume): VolumeEdges | undefined {
  const { namespace, name } = spec?.claimRef ?? {}
  if (!namespace || !name) return undefined
  const references: readonly (SecretReference | undefined)[] = [
    spec?.azureFile && { name: spec.azureFile.secretName, namespace: spec.azureFile.secretNamespace },
    spec?.cephfs?.secretRef,
    spec?.cinder?.secretRef,
    spec?.flexVolume?.secretRef,
    spec?.rbd?.secretRef,
    spec?.scaleIO?.secretRef,
    spec?.iscsi?.secretRef,
    spec?.storageos?.secretRef,
    spec?.csi?.nodePublishSecretRef,
    spec?.csi?.nodeStageSecretRef,
    spec?.csi?.nodeExpandSecretRef,
  ]
  return {
    name: metadata.name ?? '',
    claim: { namespace, name },
    secrets: references.flatMap((reference) =>
      reference?.name ? [{ namespace: reference.namespace || namespace, name: reference.name }] : [],
    ),
  }
}
