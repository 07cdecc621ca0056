/** Checks lists: each must show exactly what was written up to its revision, and a permitted revision. */
import type { ListSeen, Observation } from '../observation.ts'
import { inScope, showScope } from '../scope.ts'
import { type Change, type Fault, type History, showKey, showWrite, type Write } from './history.ts'
import type { RevisionClock } from './revision-clock.ts'

export function checkLists(
  history: History,
  changes: readonly Change[],
  observations: readonly Observation[],
  clock: RevisionClock,
): Fault[] {
  const faults: Fault[] = []
  const lists = observations
    .filter((observation) => observation.what === 'list')
    .sort((a, b) => a.revision - b.revision)
  const state: (Write | undefined)[] = []
  const stamps = new Uint32Array(history.keyCount)
  const unsure = changes.filter(({ after }) => after !== undefined)
  let next = 0
  lists.forEach((list, i) => {
    for (; next < changes.length && changes[next]!.revision <= list.revision; next++)
      state[changes[next]!.key.id] = changes[next]!.put
    const doubtful = new Set(
      unsure.filter(({ after, revision }) => after! < list.revision && list.revision < revision).map(({ key }) => key),
    )
    const stamp = i + 1
    const difference = compare(
      history,
      list,
      state,
      doubtful,
      (id) => {
        const twice = stamps[id] === stamp
        stamps[id] = stamp
        return twice
      },
      (id) => stamps[id] === stamp,
    )
    if (difference)
      faults.push({
        promise: 'a list shows exactly what was written up to its revision',
        evidence: `${show(list)}: ${difference}`,
      })
    faults.push(...revisionFaults(list, clock), ...pageFaults(list))
  })
  return faults
}

const show = ({ label, scope, mode, wanted, revision, items }: ListSeen): string =>
  `${label} of ${showScope(scope)} (${mode}${wanted ? ` ${wanted}` : ''}) shows revision ${revision} with ` +
  `${items.length} objects`

/** Returns the differences, with an example of each kind. */
function compare(
  history: History,
  { scope, items }: ListSeen,
  state: readonly (Write | undefined)[],
  doubtful: ReadonlySet<unknown>,
  mark: (id: number) => boolean,
  isMarked: (id: number) => boolean,
): string | undefined {
  const wrong = new Map<string, string[]>()
  const note = (sort: string, example: string): void => {
    const examples = wrong.get(sort)
    if (examples) examples.push(example)
    else wrong.set(sort, [example])
  }
  for (const { key, revision, count } of items) {
    const shown = `${showKey(key)} at ${revision}`
    if (mark(key.id)) note('twice', shown)
    const expected = state[key.id]
    if (expected?.count === count && expected.revision === revision) {
      if (!inScope(scope, key, expected.shard)) note('out of scope', shown)
    } else if (!expected) note('nonexistent', shown)
    else note(revision < expected.revision ? 'out of date' : 'too new', `${shown}, expected ${showWrite(expected)}`)
  }
  for (const key of history.keysOf(scope.kind)) {
    const expected = state[key.id]
    if (expected && !isMarked(key.id) && !doubtful.has(key) && inScope(scope, key, expected.shard))
      note('missing', showWrite(expected))
  }
  if (wrong.size === 0) return undefined
  return [...wrong].map(([sort, examples]) => `${examples.length} ${sort}, such as ${examples[0]}`).join('; ')
}

function revisionFaults(list: ListSeen, clock: RevisionClock): Fault[] {
  const { mode, wanted, revision, sent, answered, connection } = list
  const faults: Fault[] = []
  const fault = (promise: string, expected: string): unknown =>
    faults.push({ promise, evidence: `${show(list)}, expected ${expected}` })
  if (mode === 'newest' && revision < clock.floor(sent))
    fault('a read sees earlier acknowledged writes', `at least ${clock.floor(sent)}, which was known before`)
  if (mode === 'any' && revision < clock.newestShown(connection, sent))
    fault(
      'reads on one connection do not go back',
      `at least ${clock.newestShown(connection, sent)}, which this connection had shown`,
    )
  if (mode === 'exact' && revision !== wanted) fault('a list shows the requested revision', `revision ${wanted}`)
  if (mode === 'not older' && revision < wanted) fault('a list is not older than requested', `at least ${wanted}`)
  if (mode !== 'derived' && revision > clock.ceiling(answered))
    fault('a list shows no future revision', `at most ${clock.ceiling(answered)}`)
  return faults
}

function pageFaults(list: ListSeen): Fault[] {
  const { pages, revision } = list
  const faults: Fault[] = []
  const odd = pages.find((page) => page.revision !== revision)
  if (odd)
    faults.push({
      promise: 'all pages of a list show one revision',
      evidence: `${show(list)}: a page shows ${odd.revision}`,
    })
  // Pages may contain objects that are not checked.
  const total = pages.reduce((sum, { items }) => sum + items, 0)
  let seen = 0
  for (const page of pages) {
    seen += page.items
    if (page.remaining !== undefined && page.remaining !== total - seen)
      faults.push({
        promise: 'pages report the remaining objects',
        evidence: `${show(list)}: after ${seen} a page reports ${page.remaining}`,
      })
  }
  return faults
}
