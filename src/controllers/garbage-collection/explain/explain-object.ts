/** Explains the garbage collector's decision about an object: why it is kept or deleted, and what blocks it. */
import type { OwnerReference } from '../../../machinery/object.ts'
import { decide, type OwnerStanding } from '../decision.ts'
import {
  foregroundFinalizer,
  isDeletingDependents,
  isOrphaning,
  type ObjectState,
  orphanFinalizer,
} from '../graph/node.ts'

/** The result of an owner look-up; `out of reach`: a cluster-scoped object references a namespaced owner. */
export type OwnerFound = ObjectState | 'absent' | 'another uid' | 'unknown kind' | 'out of reach'

export interface ObjectFacts {
  /** `ConfigMap default/c`. */
  readonly title: string
  readonly state: ObjectState
  /** RFC 3339; undefined if it is not being deleted. */
  readonly deletedAt?: string
  readonly owners: readonly { readonly reference: OwnerReference; readonly found: OwnerFound }[]
  /** Objects that have it as owner. */
  readonly dependents: readonly { readonly title: string; readonly blocks: boolean }[]
}

export interface Explanation {
  readonly isKept: boolean
  /** The result, then the reasons. */
  readonly lines: readonly string[]
}

export function explainObject(facts: ObjectFacts): Explanation {
  return facts.deletedAt === undefined ? explainOwners(facts) : explainDeletion(facts, facts.deletedAt)
}

/** Explains an object that is not deleted, by its owners. */
function explainOwners({ title, state, owners, dependents }: ObjectFacts): Explanation {
  const reasons = owners.map(({ reference, found }) => `  ${ownerLine(reference, found)}`)
  if (owners.length === 0) return keptExplanation(`${title} is kept: it has no owner and is not deleted`, [])
  const unclear = owners.find(({ found }) => found === 'unknown kind' || found === 'out of reach')
  if (unclear)
    return keptExplanation(
      `${title} is kept: its owner ${nameOf(unclear.reference)} cannot be looked up, so it is not collected`,
      reasons,
    )
  const classified = owners.map(({ reference, found }) => ({ reference, standing: standingOf(found) }))
  const decision = decide({ owners: classified, finalizers: state.finalizers, hasDependents: dependents.length > 0 })
  switch (decision.action) {
    case 'keep':
      return keptExplanation(
        `${title} is kept: ${owners.length === 1 ? 'its owner exists' : 'its owners exist'}`,
        reasons,
      )
    case 'release':
      return keptExplanation(`${title} is kept by its existing owners; references to other owners are removed`, reasons)
    case 'delete':
      return {
        isKept: false,
        lines: [
          `${title} is garbage: no owner keeps it, and the garbage collector deletes it (${decision.policy})`,
          ...reasons,
        ],
      }
  }
}

const keptExplanation = (headline: string, reasons: readonly string[]): Explanation => ({
  isKept: true,
  lines: [headline, ...reasons],
})

/** Explains an object that is being deleted, by its finalizers. */
function explainDeletion({ title, state, dependents }: ObjectFacts, deletedAt: string): Explanation {
  const lines = [`${title} is being deleted since ${deletedAt}`]
  const own = state.finalizers.filter((finalizer) => finalizer !== foregroundFinalizer && finalizer !== orphanFinalizer)
  if (isDeletingDependents(state)) {
    const blocking = dependents.filter(({ blocks }) => blocks)
    lines.push(
      blocking.length > 0
        ? `  it is deleted after its dependents (${foregroundFinalizer}): ${blocking.length} of them block it`
        : `  it is deleted after its dependents (${foregroundFinalizer}), of which none blocks it: the ` +
            'garbage collector removes the finalizer',
      ...listed(blocking.map((dependent) => dependent.title)),
    )
  }
  if (isOrphaning(state))
    lines.push(`  its dependents are released first (${orphanFinalizer}): ${dependents.length} still have it as owner`)
  for (const finalizer of own)
    lines.push(`  the finalizer ${finalizer} blocks its deletion: the controller that set it must remove it`)
  if (state.finalizers.length === 0)
    lines.push('  no finalizer blocks its deletion: it is in its grace period or about to be deleted')
  return { isKept: false, lines }
}

const maxListed = 10

function listed(titles: readonly string[]): string[] {
  const lines = titles.slice(0, maxListed).map((title) => `    ${title}`)
  return titles.length > maxListed ? [...lines, `    and ${titles.length - maxListed} more`] : lines
}

function standingOf(found: OwnerFound): OwnerStanding {
  if (typeof found !== 'object') return 'dangling'
  return isDeletingDependents(found) ? 'waiting' : 'solid'
}

const nameOf = ({ kind, name }: OwnerReference): string => `${kind} ${name}`

function ownerLine(reference: OwnerReference, found: OwnerFound): string {
  const name = `owner ${nameOf(reference)}`
  if (typeof found === 'object') {
    if (isDeletingDependents(found)) return `${name} is deleted after its dependents`
    return found.beingDeleted ? `${name} is being deleted but still exists` : `${name} exists`
  }
  switch (found) {
    case 'absent':
      return `${name} does not exist`
    case 'another uid':
      return `${name} was replaced: its uid is not ${reference.uid}`
    case 'unknown kind':
      return `${name} has a kind that the server does not know: ${reference.apiVersion}`
    case 'out of reach':
      return `${name} is namespaced and cannot own a cluster-scoped object`
  }
}
