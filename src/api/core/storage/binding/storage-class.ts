/** Which class of storage claims and volumes name, and what a class says. */
import type { V1PersistentVolume, V1PersistentVolumeClaim, V1StorageClass } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'

type PersistentVolume = Model<V1PersistentVolume>
type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>
type StorageClass = Model<V1StorageClass>

/** Where the class of a claim or a volume stood before there was a field. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class'
/** What makes a class the one of claims that name none. */
export const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

/** The class of a claim; empty where it has none. The annotation is older than the field, and comes first. */
export const claimClass = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''

/** The class of a volume; empty where it has none. */
export const volumeClass = ({ metadata, spec }: PersistentVolume): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''

/** Whether a claim says anything about its class: an empty one is asked for too. */
export const namesClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[classAnnotation] !== undefined || spec?.storageClassName !== undefined

/** Whether claims without a class get this one. */
export const isDefault = ({ metadata }: StorageClass): boolean =>
  defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true')

/** The class of claims that name none: of several the newest, of those the first by name. */
export function defaultClass(classes: Iterable<StorageClass>): StorageClass | undefined {
  const age = ({ metadata }: StorageClass): number => Date.parse(metadata.creationTimestamp ?? '') || 0
  const name = ({ metadata }: StorageClass): string => metadata.name ?? ''
  return [...classes].filter(isDefault).sort((a, b) => age(b) - age(a) || (name(a) < name(b) ? -1 : 1))[0]
}

/** Whether claims of a class are bound only when a pod that uses them has found its node. */
export const waitsForConsumer = (storageClass: StorageClass | undefined): boolean =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
