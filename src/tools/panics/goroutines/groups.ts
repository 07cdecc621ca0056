/** Groups goroutines with the same stack and state: a dump of thousands has a few dozen groups. */
import type { Goroutine } from '../dump/goroutine.ts'

export interface GoroutineGroup {
  /** The first goroutine of the group. */
  readonly first: Goroutine
  readonly members: Goroutine[]
  /** The shortest and the longest waiting time, in minutes. */
  leastMinutes: number
  maxMinutes: number
}

export function groupsOf(goroutines: readonly Goroutine[]): readonly GoroutineGroup[] {
  const groups = new Map<string, GoroutineGroup>()
  for (const goroutine of goroutines) {
    const key = keyOf(goroutine)
    const group = groups.get(key)
    if (!group) {
      const { minutes } = goroutine
      groups.set(key, { first: goroutine, members: [goroutine], leastMinutes: minutes, maxMinutes: minutes })
      continue
    }
    group.members.push(goroutine)
    group.leastMinutes = Math.min(group.leastMinutes, goroutine.minutes)
    group.maxMinutes = Math.max(group.maxMinutes, goroutine.minutes)
  }
  return [...groups.values()]
}

/** Words differ between calls, locations do not. */
function keyOf({ state, frames, createdBy }: Goroutine): string {
  let key = createdBy ? `${state}|${createdBy.function.full}:${createdBy.line}` : state
  for (const { site } of frames) key += `,${site}`
  return key
}
