/** Finds suspicious groups of goroutines: those that wait forever, wait for each other, or accumulate. */
import type { Goroutine } from '../dump/goroutine.ts'
import type { GoroutineGroup } from './groups.ts'
import { LockWaiters, lockOf } from './locks.ts'
import { originOf } from './origin.ts'

export type Suspicion = 'deadlock' | 'leak' | 'waits long' | 'failed' | 'none' | 'idle'

export interface RatedGroup {
  readonly group: GoroutineGroup
  readonly suspicion: Suspicion
  /** The reason; empty if the group is not suspicious. */
  readonly why: string
}

/** Number of goroutines with one stack that suggests a leak. */
const many = 10
/** Waiting time for a lock or a value that is suspicious, in minutes. */
const long = 5

const order: readonly Suspicion[] = ['failed', 'deadlock', 'leak', 'waits long', 'none', 'idle']

/** Returns the groups, suspicious and large ones first. `failing` is the goroutine that ended the program. */
export function rateGroups(
  groups: readonly GoroutineGroup[],
  failing: Goroutine | undefined,
  isDeadlock: boolean,
): readonly RatedGroup[] {
  const waiters = new LockWaiters(groups)
  const rated = groups.map((group): RatedGroup => {
    if (!isDeadlock && failing && group.first === failing) return { group, suspicion: 'failed', why: '' }
    const [suspicion, why] = suspicionOf(group, waiters, isDeadlock)
    return { group, suspicion, why }
  })
  const weight = ({ group }: RatedGroup): number => group.members.length * (1 + group.maxMinutes)
  return rated.sort((a, b) => order.indexOf(a.suspicion) - order.indexOf(b.suspicion) || weight(b) - weight(a))
}

function suspicionOf(group: GoroutineGroup, waiters: LockWaiters, isDeadlock: boolean): readonly [Suspicion, string] {
  const { first, members, maxMinutes } = group
  const { state, frames } = first
  const count = members.length
  if (frames.length > 0 && frames.every((frame) => originOf(frame) === 'runtime')) return ['idle', '']
  const isMain = frames.some(({ function: { full } }) => full === 'main.main')
  if (/\(nil chan\)/.test(state)) return ['deadlock', 'receiving from or sending to a nil channel blocks forever']
  if (state === 'select (no cases)')
    return isMain
      ? ['none', 'the main function waits in select {}']
      : ['deadlock', 'select without cases blocks forever']
  const lock = lockOf(first)
  if (lock) {
    const together = waiters.count(lock)
    const circle = waiters.cycle(group)
    const why = [
      circle,
      circle
        ? ''
        : lock.address
          ? `${counted(together, 'wait')} for the lock at ${lock.address}`
          : `${counted(count, 'wait')} for a lock`,
      maxMinutes >= 1 ? `for up to ${minutes(maxMinutes)}` : '',
    ].filter(Boolean)
    // A goroutine that waits for less than a minute may still get the lock.
    if (isDeadlock || maxMinutes >= 1 || together >= many)
      return ['deadlock', isDeadlock && !circle ? `${why.join(', ')}, and no goroutine can unlock it` : why.join(', ')]
    return ['none', why.join(', ')]
  }
  if (isDeadlock && isBlocked(state)) return ['deadlock', deadlocked(state)]
  if (isBlocked(state)) {
    const waits = maxMinutes >= 1 ? `, for up to ${minutes(maxMinutes)}` : ''
    if (count >= many) return ['leak', `${count} goroutines wait at one place${waits}: each new one may stay`]
    if (maxMinutes >= long && !isMain && /^chan |WaitGroup|Cond/.test(state))
      return ['waits long', `it waits for ${minutes(maxMinutes)}`]
    return ['none', '']
  }
  if (count >= many * many && state !== 'running') return ['leak', `${count} goroutines have this stack`]
  return ['none', '']
}

const counted = (count: number, verb: string): string => (count === 1 ? `it ${verb}s` : `${count} goroutines ${verb}`)

const minutes = (count: number): string =>
  count === 1 ? '1 minute' : count < 120 ? `${count} minutes` : `${Math.floor(count / 60)} hours`

const isBlocked = (state: string): boolean =>
  /^(chan (send|receive)|select|semacquire|semarelease|sync\.|IO wait|sleep|waiting|synctest)/.test(state)

function deadlocked(state: string): string {
  if (state.startsWith('chan receive'))
    return 'it waits for a value, and no goroutine can send one or close the channel'
  if (state.startsWith('chan send')) return 'it waits for a receiver, and no goroutine can be one'
  if (/WaitGroup/.test(state)) return 'it waits for Done, and no goroutine can call it'
  return 'no goroutine can wake it'
}
