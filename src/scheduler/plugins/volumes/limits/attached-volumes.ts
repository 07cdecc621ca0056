/** The volumes that CSI drivers attach to nodes, or will attach for pods. */
import { claimClass } from '../../../../api/core/storage/binding/storage-class.ts'
import {
  type CSINode,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  type StorageClass,
  storageClasses,
  type VolumeAttachment,
  volumeAttachments,
} from '../../../../client/kinds.ts'
import type { Handle, Lister, NodeInfo, PodInfo } from '../../../framework/index.ts'
import { claimNameOf } from '../pod-volumes.ts'
import { driverOf, inTreeVolume } from './migration.ts'

/** A volume attached by a driver. */
export interface Attached {
  readonly driver: string
  /** Unique in the cluster. */
  readonly id: string
}

const byNode = ({ spec }: VolumeAttachment): readonly string[] => [spec.nodeName]

export class AttachedVolumes {
  readonly #claims: Lister<PersistentVolumeClaim>
  readonly #volumes: Lister<PersistentVolume>
  readonly #classes: Lister<StorageClass>
  readonly #attachments: Lister<VolumeAttachment>

  constructor(handle: Pick<Handle, 'lister'>) {
    this.#claims = handle.lister(persistentVolumeClaims)
    this.#volumes = handle.lister(persistentVolumes)
    this.#classes = handle.lister(storageClasses)
    this.#attachments = handle.lister(volumeAttachments)
  }

  /** The name of the first claim of the pod that does not exist. */
  missingClaim(pod: PodInfo): string | undefined {
    return (pod.pod.spec?.volumes ?? [])
      .map((volume) => claimNameOf(pod, volume))
      .find((name) => name !== undefined && !this.#claims.get(pod.namespace, name))
  }

  /** The volumes of a node by id, with their drivers: those of its pods, and all attachments. */
  of(node: NodeInfo, csiNode: CSINode): ReadonlyMap<string, string> {
    const drivers = new Map<string, string>()
    for (const pod of node.pods) for (const { driver, id } of this.ofPod(pod, csiNode)) drivers.set(id, driver)
    for (const { spec } of this.#attachments.by(byNode, node.name)) {
      const attached = spec.source.persistentVolumeName
        ? this.#ofVolume(spec.source.persistentVolumeName, csiNode)
        : undefined
      if (attached) drivers.set(attached.id, attached.driver)
    }
    return drivers
  }

  *ofPod(pod: PodInfo, csiNode: CSINode): Generator<Attached> {
    for (const volume of pod.pod.spec?.volumes ?? []) {
      const name = claimNameOf(pod, volume)
      const claim = name === undefined ? undefined : this.#claims.get(pod.namespace, name)
      const attached = claim ? this.#ofClaim(claim, csiNode) : ofSource(volume, csiNode)
      if (attached) yield attached
    }
  }

  /** A claim without a volume counts for the driver of its class. */
  #ofClaim(claim: PersistentVolumeClaim, csiNode: CSINode): Attached | undefined {
    const volumeName = claim.spec?.volumeName
    const attached = volumeName ? this.#ofVolume(volumeName, csiNode) : undefined
    if (attached || (volumeName && this.#volumes.get('', volumeName))) return attached
    const provisioner = this.#classes.get('', claimClass(claim))?.provisioner
    const driver = provisioner && driverOf(provisioner, csiNode)
    return driver ? { driver, id: `claim ${claim.metadata.namespace}/${claim.metadata.name}` } : undefined
  }

  #ofVolume(name: string, csiNode: CSINode): Attached | undefined {
    const { csi, ...source } = this.#volumes.get('', name)?.spec ?? {}
    return csi ? { driver: csi.driver, id: `${csi.driver}/${csi.volumeHandle}` } : ofSource(source, csiNode)
  }
}

function ofSource(source: Parameters<typeof inTreeVolume>[0], csiNode: CSINode): Attached | undefined {
  const volume = inTreeVolume(source)
  const driver = volume && driverOf(volume.plugin, csiNode)
  return driver ? { driver, id: `${driver}/${volume.handle}` } : undefined
}
