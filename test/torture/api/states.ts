/** Objects and revisions that exist as far as the history knows: clients continue with them. */
import type { History, Write } from './checker/history.ts'
import { chance } from './clients/writers.ts'

/** Returns the existing states as far as they are known, for the writers to continue with. */
export function livePuts(history: History): Iterable<Write> {
  const live = new Map<number, Write>()
  const doubtful = new Set<number>()
  for (const write of history.writes) {
    if (write.outcome === 'refused') continue
    if (write.outcome === 'unknown' || write.key.name.startsWith('shared')) doubtful.add(write.key.id)
    const before = live.get(write.key.id)
    if (write.action === 'delete') {
      if (before?.revision === write.base) live.delete(write.key.id)
    } else if (!before || write.revision > before.revision) live.set(write.key.id, write)
  }
  return [...live.values()].filter(({ key }) => !doubtful.has(key.id))
}

/** Returns an existing revision, a recent one or any. */
export function someRevision({ writes }: History, start: number): number {
  for (let tries = 0; tries < 50; tries++) {
    const back = chance(0.7) ? Math.floor(Math.random() * 3000) : Math.floor(Math.random() * writes.length)
    const revision = writes.at(-1 - back)?.revision
    if (revision) return revision
  }
  return start
}
