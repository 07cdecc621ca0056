/** Says why an object is kept or goes, and what it waits for: the collector's own decision, in words. */
import type { OwnerReference } from '../../../machinery/object.ts'
import { decide, type OwnerStanding } from '../decision.ts'
import {
  foregroundFinalizer,
  isDeletingDependents,
  isOrphaning,
  type ObjectState,
  orphanFinalizer,
} from '../graph/node.ts'

/** What is where an owner reference points; `out of reach`: what has no namespace names an owner that has one. */
export type OwnerFound = ObjectState | 'absent' | 'another uid' | 'unknown kind' | 'out of reach'

export interface ObjectFacts {
  /** `ConfigMap default/c`. */
  readonly title: string
  readonly state: ObjectState
  /** RFC 3339, where it is being deleted. */
  readonly deletedAt?: string
  readonly owners: readonly { readonly reference: OwnerReference; readonly found: OwnerFound }[]
  /** What names it as an owner, by their titles. */
  readonly dependents: readonly { readonly title: string; readonly blocks: boolean }[]
}

export interface Explanation {
  readonly isKept: boolean
  /** The answer, then what it follows from. */
  readonly lines: readonly string[]
}

export function explain(facts: ObjectFacts): Explanation {
  return facts.deletedAt === undefined ? standing(facts) : going(facts, facts.deletedAt)
}

/** Nobody has deleted it: its owners decide. */
function standing({ title, state, owners, dependents }: ObjectFacts): Explanation {
  const because = owners.map(({ reference, found }) => `  ${ownerLine(reference, found)}`)
  if (owners.length === 0) return kept(`${title} is kept: it has no owner, and nobody has deleted it`, [])
  const unclear = owners.find(({ found }) => found === 'unknown kind' || found === 'out of reach')
  if (unclear)
    return kept(
      `${title} is kept: whether ${nameOf(unclear.reference)} is there cannot be said, so it is left alone`,
      because,
    )
  const judged = owners.map(({ reference, found }) => ({ reference, standing: standingOf(found) }))
  const decision = decide({ owners: judged, finalizers: state.finalizers, hasDependents: dependents.length > 0 })
  switch (decision.action) {
    case 'keep':
      return kept(`${title} is kept: ${owners.length === 1 ? 'its owner is there' : 'its owners are there'}`, because)
    case 'release':
      return kept(
        `${title} is kept by those of its owners that are there; it loses its references to the others`,
        because,
      )
    case 'delete':
      return {
        isKept: false,
        lines: [
          `${title} is garbage: none of its owners keeps it, and the garbage collector deletes it (${decision.policy})`,
          ...because,
        ],
      }
  }
}

const kept = (headline: string, because: readonly string[]): Explanation => ({
  isKept: true,
  lines: [headline, ...because],
})

/** It is being deleted: finalizers hold it. */
function going({ title, state, dependents }: ObjectFacts, deletedAt: string): Explanation {
  const lines = [`${title} is being deleted since ${deletedAt}`]
  const own = state.finalizers.filter((finalizer) => finalizer !== foregroundFinalizer && finalizer !== orphanFinalizer)
  if (isDeletingDependents(state)) {
    const blocking = dependents.filter(({ blocks }) => blocks)
    lines.push(
      blocking.length > 0
        ? `  it goes after its dependents (${foregroundFinalizer}): ${blocking.length} of them block it`
        : `  it goes after its dependents (${foregroundFinalizer}), of which none blocks it any more: the ` +
            'garbage collector lets it go',
      ...listed(blocking.map((dependent) => dependent.title)),
    )
  }
  if (isOrphaning(state))
    lines.push(
      `  its dependents are released first (${orphanFinalizer}): ${dependents.length} still name it as their owner`,
    )
  for (const finalizer of own)
    lines.push(`  the finalizer ${finalizer} holds it: whoever set it has to take it away when they are done`)
  if (state.finalizers.length === 0)
    lines.push('  no finalizer holds it: it has been given time to end, or goes at any moment')
  return { isKept: false, lines }
}

const mostListed = 10

function listed(titles: readonly string[]): string[] {
  const lines = titles.slice(0, mostListed).map((title) => `    ${title}`)
  return titles.length > mostListed ? [...lines, `    and ${titles.length - mostListed} more`] : lines
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
    return found.beingDeleted ? `${name} is being deleted, but still there` : `${name} is there`
  }
  switch (found) {
    case 'absent':
      return `${name} is not there`
    case 'another uid':
      return `${name} is there, but it is another one: its uid is not ${reference.uid}`
    case 'unknown kind':
      return `${name} is of a kind that the server does not know: ${reference.apiVersion}`
    case 'out of reach':
      return `${name} is in a namespace, and cannot own what is in none`
  }
}
