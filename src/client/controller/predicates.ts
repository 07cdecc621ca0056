/** Which changes are worth a look. */
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { KubeObject } from '../../machinery/object.ts'

/** `object` is undefined where it has gone, `before` where it is new. */
export type Predicate<T extends KubeObject = KubeObject> = (object: T | undefined, before: T | undefined) => boolean

/** What is there before and after a change is compared; what comes or goes always counts. */
const differ =
  (part: (object: KubeObject) => unknown): Predicate =>
  (object, before) =>
    !object || !before || !semanticallyEqual(part(object), part(before))

/** Changes of what is wanted (`metadata.generation`): not those of status, labels and annotations. */
export const generationChanged: Predicate = differ(({ metadata }) => [metadata.generation, metadata.deletionTimestamp])

/** Changes of labels. */
export const labelsChanged: Predicate = differ(({ metadata }) => metadata.labels)

/** Changes of annotations. */
export const annotationsChanged: Predicate = differ(({ metadata }) => metadata.annotations)

/** Changes that one of the predicates lets through. */
export const anyOf =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (object, before) =>
    predicates.some((holds) => holds(object, before))

/** Changes that all of the predicates let through. */
export const allOf =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (object, before) =>
    predicates.every((holds) => holds(object, before))
