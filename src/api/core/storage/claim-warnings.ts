/** Warnings about claims, claim templates and volumes. */
import type { ObjectMeta } from '../../../machinery/object.ts'
import { fractionalAmount } from '../pod/warnings/containers.ts'
import { classAnnotation } from './binding/storage-class.ts'
import type { ClaimSpec } from './claim-rules.ts'

/** Warns of sizes that are not a whole number of bytes. */
export const claimSpecWarnings = ({ resources }: ClaimSpec, path: string): string[] => [
  ...fractionalAmount(resources?.requests?.storage, `${path}.resources.requests[storage]`),
  ...fractionalAmount(resources?.limits?.storage, `${path}.resources.limits[storage]`),
]

/** Warns of the class annotation. */
export const classAnnotationWarnings = ({ annotations }: ObjectMeta): string[] =>
  annotations?.[classAnnotation] === undefined
    ? []
    : [`metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`]
