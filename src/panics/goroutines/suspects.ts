/**
 * What is suspicious about groups of goroutines: those that can never go on, those that wait for each other, those that
 * pile up.
 */
import type { Goroutine } from '../dump/goroutine.ts'
import type { GoroutineGroup } from './groups.ts'
import { LockWaiters, lockOf } from './locks.ts'
import { originOf } from './origin.ts'

export type Suspicion = 'deadlock' | 'leak' | 'waits long' | 'failed' | 'none' | 'idle'

export interface Judged {
  readonly group: GoroutineGroup
  readonly suspicion: Suspicion
  /** Why; empty for those that nothing is wrong with. */
  readonly why: string
}

/** As many with one stack are more than a program means to have, mostly. */
const many = 10
/** Nobody waits as long for a lock or a value that still comes, mostly. Minutes. */
const long = 5

const order: readonly Suspicion[] = ['failed', 'deadlock', 'leak', 'waits long', 'none', 'idle']

/** Groups with the suspicious first, then by how many they are. `failing` is the goroutine that ended the program. */
export function judge(
  groups: readonly GoroutineGroup[],
  failing: Goroutine | undefined,
  isDeadlock: boolean,
): readonly Judged[] {
  const waiters = new LockWaiters(groups)
  const judged = groups.map((group): Judged => {
    if (!isDeadlock && failing && group.first === failing) return { group, suspicion: 'failed', why: '' }
    const [suspicion, why] = suspicionOf(group, waiters, isDeadlock)
    return { group, suspicion, why }
  })
  const weight = ({ group }: Judged): number => group.members.length * (1 + group.mostMinutes)
  return judged.sort((a, b) => order.indexOf(a.suspicion) - order.indexOf(b.suspicion) || weight(b) - weight(a))
}

function suspicionOf(group: GoroutineGroup, waiters: LockWaiters, isDeadlock: boolean): readonly [Suspicion, string] {
  const { first, members, mostMinutes } = group
  const { state, frames } = first
  const count = members.length
  if (frames.length > 0 && frames.every((frame) => originOf(frame) === 'runtime')) return ['idle', '']
  const isMain = frames.some(({ function: { full } }) => full === 'main.main')
  if (/\(nil chan\)/.test(state))
    return ['deadlock', 'a channel that is nil never has anything, and takes nothing: they wait forever']
  if (state === 'select (no cases)')
    return isMain
      ? ['none', 'a main function that waits forever by select {}']
      : ['deadlock', 'select without cases waits forever']
  const lock = lockOf(first)
  if (lock) {
    const together = waiters.count(lock)
    const circle = waiters.circle(group)
    const why = [
      circle,
      circle
        ? ''
        : lock.address
          ? `${counted(together, 'wait')} for the lock at ${lock.address}`
          : `${counted(count, 'wait')} for a lock`,
      mostMinutes >= 1 ? `for up to ${minutes(mostMinutes)}` : '',
    ].filter(Boolean)
    // Somebody who waits for less than a minute may get it yet, whatever it looks like.
    if (isDeadlock || mostMinutes >= 1 || together >= many)
      return [
        'deadlock',
        isDeadlock && !circle ? `${why.join(', ')}, and nobody is left who could unlock it` : why.join(', '),
      ]
    return ['none', why.join(', ')]
  }
  if (isDeadlock && isBlocked(state)) return ['deadlock', deadlocked(state)]
  if (isBlocked(state)) {
    const waits = mostMinutes >= 1 ? `, for up to ${minutes(mostMinutes)}` : ''
    if (count >= many)
      return ['leak', `${count} goroutines wait at one place${waits}: each one that comes stays, perhaps`]
    if (mostMinutes >= long && !isMain && /^chan |WaitGroup|Cond/.test(state))
      return ['waits long', `it waits for ${minutes(mostMinutes)}`]
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
    return 'it waits for a value, and nobody is left who could send one or close the channel'
  if (state.startsWith('chan send')) return 'it waits for a receiver, and nobody is left who could be one'
  if (/WaitGroup/.test(state)) return 'it waits for Done, and nobody is left who could call it'
  return 'nobody is left who could wake it'
}
