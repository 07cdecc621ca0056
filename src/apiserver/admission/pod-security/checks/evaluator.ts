/** Evaluates pods against a level and a version of the Pod Security Standards. */

import { type LevelVersion, standardText } from '../policy/policy.ts'
import type { CheckedPod, CheckPod, Violation } from './check.ts'
import { confinementChecks } from './confinement.ts'
import { hostChecks } from './host.ts'
import { privilegeChecks } from './privileges.ts'
import { seccompChecks } from './seccomp.ts'
import { userChecks } from './users.ts'
import { volumeChecks } from './volumes.ts'

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)
const checks = [
  ...hostChecks,
  ...privilegeChecks,
  ...confinementChecks,
  ...seccompChecks,
  ...userChecks,
  ...volumeChecks,
].sort(byId)

/** The newest version with a change. Later versions are equal to it. */
const newest = Math.max(...checks.flatMap(({ revisions }) => revisions.map(({ since }) => since)))

/** Computed checks by level, then by version. */
const checksByLevel: Record<'baseline' | 'restricted', CheckPod[][]> = { baseline: [], restricted: [] }

function checksOf(level: 'baseline' | 'restricted', version: number): readonly CheckPod[] {
  const known = checksByLevel[level][version]
  if (known) return known
  const inForce = checks.flatMap(({ revisions, ...check }) => {
    const revision = revisions.findLast(({ since }) => since <= version)
    return revision && (level === 'restricted' || check.level === 'baseline') ? { ...check, run: revision.check } : []
  })
  const overridden = new Set(inForce.flatMap(({ overrides = [] }) => overrides))
  const effective = inForce.filter(({ id }) => !overridden.has(id))
  // Baseline violations are reported first.
  const order = [
    ...effective.filter((check) => check.level === 'baseline'),
    ...effective.filter((check) => check.level === 'restricted'),
  ]
  return (checksByLevel[level][version] = order.map(({ run }) => run))
}

/** Returns the violations of the pod; empty if it is allowed. */
export function evaluatePod({ level, version }: LevelVersion, pod: CheckedPod): readonly Violation[] {
  if (level === 'privileged') return []
  const violations: Violation[] = []
  for (const check of checksOf(level, version === 'latest' ? newest : Math.min(version, newest))) {
    const violation = check(pod)
    if (violation) violations.push(violation)
  }
  return violations
}

/** The violations of one pod. Evaluates each standard once, even if several modes use it. */
export class PodEvaluation {
  readonly #pod: CheckedPod
  readonly #violations = new Map<string, readonly Violation[]>()

  constructor(pod: CheckedPod) {
    this.#pod = pod
  }

  violationsOf(standard: LevelVersion): readonly Violation[] {
    const name = standardText(standard)
    let violations = this.#violations.get(name)
    if (!violations) this.#violations.set(name, (violations = evaluatePod(standard, this.#pod)))
    return violations
  }
}

/** `host namespaces, privileged`. */
export const reasonsOf = (violations: readonly Violation[]): string => violations.map(({ reason }) => reason).join(', ')

/** `privileged (container "c" must not set securityContext.privileged=true)`. */
export const detailsOf = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail ? `${reason} (${detail})` : reason)).join(', ')
