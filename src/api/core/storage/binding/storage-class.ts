/** The storage classes of claims and volumes, and the default class. */
import type { V1PersistentVolume, V1PersistentVolumeClaim, V1StorageClass } from '@kubernetes/client-node'
import type { Model } from '../../../../machinery/object.ts'

type PersistentVolume = Model<V1PersistentVolume>
type PersistentVolumeClaim = Model<V1PersistentVolumeClaim>
type StorageClass = Model<V1StorageClass>

/** The annotation of a claim's or volume's class that the field replaced. */
export const classAnnotation = 'volume.beta.kubernetes.io/storage-class'
/** Annotations that mark the default class. */
export const defaultAnnotations = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

/** Returns the class of a claim, or an empty text. The older annotation overrides the field. */
export const claimClass = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''

/** Returns the class of a volume, or an empty text. */
export const volumeClass = ({ metadata, spec }: PersistentVolume): string =>
  metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''

/** Returns true if a claim specifies a class, including an empty one. */
export const namesClass = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  metadata.annotations?.[classAnnotation] !== undefined || spec?.storageClassName !== undefined

/** Returns true if the class is marked as default. */
export const isDefault = ({ metadata }: StorageClass): boolean =>
  defaultAnnotations.some((name) => metadata.annotations?.[name] === 'true')

/** Returns the default class: of several the newest, then the first by name. */
export function defaultClass(classes: Iterable<StorageClass>): StorageClass | undefined {
  const age = ({ metadata }: StorageClass): number => Date.parse(metadata.creationTimestamp ?? '') || 0
  const name = ({ metadata }: StorageClass): string => metadata.name ?? ''
  return [...classes].filter(isDefault).sort((a, b) => age(b) - age(a) || (name(a) < name(b) ? -1 : 1))[0]
}

/** Returns true if claims of the class are bound only after a pod that uses them is scheduled. */
export const waitsForConsumer = (storageClass: StorageClass | undefined): boolean =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
