/** Warnings about existing pods that violate a new, stricter level. The pods stay. */
import type { Pod } from '../../../api/core/pod/model.ts'
import { pauses } from '../../../lib/flow/steps.ts'
import { evaluatePod, reasonsOf } from './checks/evaluator.ts'
import { type LevelVersion, standardText } from './policy/policy.ts'

/** Limits of the check after one change of a label. */
const maxPods = 3000
const maxMs = 1000

export interface ExistingPods {
  readonly namespace: string
  readonly enforce: LevelVersion
  /** Not parsed yet: in a large namespace only some of them will be. */
  readonly pods: readonly { parse<T extends Pod>(): T }[]
  readonly isExempt: (pod: Pod) => boolean
  readonly now?: () => number
}

interface ViolationGroup {
  first: string
  count: number
}

/** Returns texts for Warning headers. Equal violations are reported once, with the alphabetically first name. */
export async function existingPodWarnings({
  namespace,
  enforce,
  pods: stored,
  isExempt,
  now = () => performance.now(),
}: ExistingPods): Promise<string[]> {
  const deadline = now() + maxMs
  const pause = pauses()
  const pods =
    stored.length > maxPods
      ? oneOfEachControllerFirst(stored.map((pod) => pod.parse<Pod>()).filter((pod) => !isExempt(pod)))
      : undefined
  const found = new Map<string, ViolationGroup>()
  let total = (pods ?? stored).length
  let checked = 0
  while (checked < Math.min(total, maxPods)) {
    const pod = pods?.[checked] ?? stored[checked]!.parse<Pod>()
    checked++
    if (pods || !isExempt(pod)) note(found, pod, enforce)
    if (now() > deadline) break
    await pause()
  }
  if (!pods && checked === total) total = checked
  const lines = [...found].map(([reasons, { first, count }]) => `${first}${others(count - 1)}: ${reasons}`).sort()
  return [
    ...(checked < total
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`]
      : []),
    ...(lines.length
      ? [
          `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ` +
            `${JSON.stringify(standardText(enforce))}`,
        ]
      : []),
    ...lines,
  ]
}

function note(found: Map<string, ViolationGroup>, { metadata, spec }: Pod, enforce: LevelVersion): void {
  if (!spec) return
  const violations = evaluatePod(enforce, { annotations: metadata.annotations ?? {}, spec })
  if (violations.length === 0) return
  const reasons = reasonsOf(violations)
  const name = metadata.name ?? ''
  const group = found.get(reasons)
  if (!group) found.set(reasons, { first: name, count: 1 })
  else {
    group.count++
    if (name < group.first) group.first = name
  }
}

const others = (count: number): string => (count === 0 ? '' : ` (and ${count} other pod${count === 1 ? '' : 's'})`)

/** If not all pods can be checked, one pod of each controller represents the others. */
function oneOfEachControllerFirst(pods: readonly Pod[]): Pod[] {
  const owners = new Set<string>()
  const first: Pod[] = []
  const rest: Pod[] = []
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
    if (owner !== undefined && owners.has(owner)) rest.push(pod)
    else first.push(pod)
    if (owner !== undefined) owners.add(owner)
  }
  return [...first, ...rest]
}
