/** Predicates, which select the changes that a controller processes. */
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { KubeObject } from '../../machinery/object.ts'

/**
 * Returns true if a change needs a reconcile. `object` is undefined after a deletion, `old` for a new object.
 * @example const isReady: Predicate<Pod> = (pod) => pod === undefined || hasCondition('Ready')(pod)
 */
export type Predicate<T extends KubeObject = KubeObject> = (object: T | undefined, old: T | undefined) => boolean

/** Compares a part of the old and the new object; always true for creations and deletions. */
const partChanged =
  (part: (object: KubeObject) => unknown): Predicate =>
  (object, old) =>
    !object || !old || !semanticallyEqual(part(object), part(old))

/**
 * True for changes of the spec (`metadata.generation`), not of status, labels and annotations.
 * @example controller({ name: 'fleet', for: fleets, when: generationChanged, reconcile })
 */
export const generationChanged: Predicate = partChanged(({ metadata }) => [
  metadata.generation,
  metadata.deletionTimestamp,
])

/**
 * True for changes of labels.
 * @example controller({ name: 'fleet', for: fleets, when: anyOf(generationChanged, labelsChanged), reconcile })
 */
export const labelsChanged: Predicate = partChanged(({ metadata }) => metadata.labels)

/**
 * True for changes of annotations.
 * @example controller({ name: 'fleet', for: fleets, when: annotationsChanged, reconcile })
 */
export const annotationsChanged: Predicate = partChanged(({ metadata }) => metadata.annotations)

/**
 * True if one of the predicates is true.
 * @example anyOf(generationChanged, annotationsChanged)
 */
export const anyOf =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (object, old) =>
    predicates.some((holds) => holds(object, old))

/**
 * True if all predicates are true.
 * @example allOf(generationChanged, (fleet) => fleet?.metadata.labels?.managed === 'yes')
 */
export const allOf =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (object, old) =>
    predicates.every((holds) => holds(object, old))
