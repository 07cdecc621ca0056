/** Which pods that are there already a stricter level would not take: they stay, and whoever sets the level is told. */
import type { Pod } from '../../../api/core/pod/model.ts'
import { pauses } from '../../../lib/flow/pauses.ts'
import { evaluatePod, reasonsOf } from './evaluator.ts'
import { type LevelVersion, shown } from './policy.ts'

/** More pods, and more time, one change of a label is not worth. */
const mostPods = 3000
const mostMs = 1000

export interface ExistingPods {
  readonly namespace: string
  readonly enforce: LevelVersion
  /** Not parsed yet: in a large namespace not all of them will be. */
  readonly pods: readonly { parse<T extends Pod>(): T }[]
  readonly isExempt: (pod: Pod) => boolean
  readonly now?: () => number
}

interface Told {
  first: string
  count: number
}

/** Texts for Warning headers: equal violations are told once, under the name of the first of their pods. */
export async function existingPodWarnings({
  namespace,
  enforce,
  pods: stored,
  isExempt,
  now = () => performance.now(),
}: ExistingPods): Promise<string[]> {
  const deadline = now() + mostMs
  const pause = pauses()
  const pods =
    stored.length > mostPods
      ? oneOfEachFirst(stored.map((pod) => pod.parse<Pod>()).filter((pod) => !isExempt(pod)))
      : undefined
  const found = new Map<string, Told>()
  let total = (pods ?? stored).length
  let checked = 0
  while (checked < Math.min(total, mostPods)) {
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
            `${JSON.stringify(shown(enforce))}`,
        ]
      : []),
    ...lines,
  ]
}

function note(found: Map<string, Told>, { metadata, spec }: Pod, enforce: LevelVersion): void {
  if (!spec) return
  const violations = evaluatePod(enforce, { annotations: metadata.annotations ?? {}, spec })
  if (violations.length === 0) return
  const reasons = reasonsOf(violations)
  const name = metadata.name ?? ''
  const told = found.get(reasons)
  if (!told) found.set(reasons, { first: name, count: 1 })
  else {
    told.count++
    if (name < told.first) told.first = name
  }
}

const others = (count: number): string => (count === 0 ? '' : ` (and ${count} other pod${count === 1 ? '' : 's'})`)

/** Where not all can be looked at, one pod of each controller says most about the others. */
function oneOfEachFirst(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>()
  const first: Pod[] = []
  const rest: Pod[] = []
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
    if (owner !== undefined && seen.has(owner)) rest.push(pod)
    else first.push(pod)
    if (owner !== undefined) seen.add(owner)
  }
  return [...first, ...rest]
}
