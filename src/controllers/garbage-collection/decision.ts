/** Decides what happens to an object by its owners: it is kept, loses references to other owners, or is deleted. */
import type { OwnerReference } from '../../machinery/object.ts'
import { foregroundFinalizer, orphanFinalizer } from './graph/node.ts'

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan'

/** An owner is solid if it exists; dangling if it does not; waiting if it is deleted after its dependents. */
export type OwnerStanding = 'solid' | 'dangling' | 'waiting'

export interface ClassifiedReference {
  readonly reference: OwnerReference
  readonly standing: OwnerStanding
}

export type Decision =
  | { readonly action: 'keep' }
  /** Only the references in `owners` remain. */
  | { readonly action: 'release'; readonly owners: OwnerReference[] }
  | { readonly action: 'delete'; readonly policy: PropagationPolicy }

export interface DecisionInput {
  readonly owners: readonly ClassifiedReference[]
  readonly finalizers: readonly string[]
  readonly hasDependents: boolean
}

export function decide({ owners, finalizers, hasDependents }: DecisionInput): Decision {
  const solid = owners.filter(({ standing }) => standing === 'solid')
  if (solid.length === owners.length) return { action: 'keep' }
  // References to waiting owners are removed too, as those would wait for a retained object.
  if (solid.length > 0) return { action: 'release', owners: solid.map(({ reference }) => reference) }
  if (hasDependents && owners.some(({ standing }) => standing === 'waiting'))
    return { action: 'delete', policy: 'Foreground' }
  if (finalizers.includes(orphanFinalizer)) return { action: 'delete', policy: 'Orphan' }
  return { action: 'delete', policy: finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background' }
}
