/**
 * What becomes of an object, by what its owners are: it stays, loses references to owners that do not keep it, or goes.
 */
import type { OwnerReference } from '../../machinery/object.ts'
import { foregroundFinalizer, orphanFinalizer } from './graph/node.ts'

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan'

/**
 * An owner is solid when it is there and stays; dangling when it is not; waiting when it is deleted after its
 * dependents.
 */
export type OwnerStanding = 'solid' | 'dangling' | 'waiting'

export interface JudgedReference {
  readonly reference: OwnerReference
  readonly standing: OwnerStanding
}

export type Decision =
  | { readonly action: 'keep' }
  /** Leaves these references alone. */
  | { readonly action: 'release'; readonly owners: OwnerReference[] }
  | { readonly action: 'delete'; readonly policy: PropagationPolicy }

export interface Judged {
  readonly owners: readonly JudgedReference[]
  readonly finalizers: readonly string[]
  readonly hasDependents: boolean
}

export function decide({ owners, finalizers, hasDependents }: Judged): Decision {
  const solid = owners.filter(({ standing }) => standing === 'solid')
  if (solid.length === owners.length) return { action: 'keep' }
  // Waiting owners are released too, or they would wait for what stays.
  if (solid.length > 0) return { action: 'release', owners: solid.map(({ reference }) => reference) }
  if (hasDependents && owners.some(({ standing }) => standing === 'waiting'))
    return { action: 'delete', policy: 'Foreground' }
  if (finalizers.includes(orphanFinalizer)) return { action: 'delete', policy: 'Orphan' }
  return { action: 'delete', policy: finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background' }
}
