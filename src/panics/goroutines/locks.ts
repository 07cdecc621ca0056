/**
 * Who waits for which lock, and who waits for whom, by the words that stacks show: an address of a lock lies in its
 * object.
 */
import type { Frame } from '../dump/frame.ts'
import type { Goroutine } from '../dump/goroutine.ts'
import type { GoroutineGroup } from './groups.ts'

export interface Lock {
  /** Of the mutex; unknown where the compiler has dropped it. */
  readonly address?: string
}

const lockCall = /^(?:internal\/)?sync\.\(\*(?:RW)?Mutex\)\.(?:lockSlow|Lock|RLock)$/
/** A lock lies at most so far behind the beginning of its struct. Bytes. */
const largestObject = 1024
/** Goroutines that are compared with each other. */
const mostCompared = 200

/** The lock that a goroutine waits for. */
export function lockOf({ state, frames }: Goroutine): Lock | undefined {
  if (!/^(semacquire|sync\.(RW)?Mutex\.)/.test(state)) return undefined
  const calls = frames.filter(({ function: { full } }) => lockCall.test(full))
  if (calls.length === 0) return state.startsWith('sync.') ? {} : undefined
  // The one that Go says is live: others may be stale.
  const address = calls
    .map(({ words = '' }) => /^(0x[0-9a-f]{4,})(?:,|$)/.exec(words)?.[1])
    .find((word) => word !== undefined)
  return address ? { address } : {}
}

interface Waiter {
  readonly goroutine: Goroutine
  readonly address: string
  /** The words of its frames, but for those of package sync. */
  readonly words: readonly number[]
}

export class LockWaiters {
  readonly #counts = new Map<string, number>()
  readonly #waiters: Waiter[] = []

  constructor(groups: readonly GoroutineGroup[]) {
    for (const { members } of groups) {
      for (const goroutine of members) {
        const address = lockOf(goroutine)?.address
        if (!address) continue
        this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1)
        if (this.#waiters.length < mostCompared) this.#waiters.push({ goroutine, address, words: wordsOf(goroutine) })
      }
    }
  }

  /** How many wait for a lock. */
  count({ address }: Lock): number {
    return address ? (this.#counts.get(address) ?? 1) : 1
  }

  /**
   * A sentence where a goroutine of the group waits for itself, or for one that waits for it, by all that their stacks
   * show.
   */
  circle({ first, members }: GoroutineGroup): string {
    const twice = calledAgain(first)
    if (twice)
      return (
        `${twice.outer} calls ${twice.inner}, which waits for a lock of ` +
        `${twice.same ? 'the same object' : 'an object of the same type'}: if ${twice.outer} holds it, it waits ` +
        'for itself'
      )
    const own = this.#waiters.filter(({ goroutine }) => members.includes(goroutine))
    for (const one of own) {
      const other = this.#waiters.find(
        ({ address, words }) => address !== one.address && holds(one.words, address) && holds(words, one.address),
      )
      if (other)
        return (
          `goroutine ${one.goroutine.id} waits for the lock at ${one.address} and goroutine ` +
          `${other.goroutine.id} for the one at ${other.address}, and both use both objects: they wait for each ` +
          'other, likely'
        )
    }
    const [one] = own
    const place = one && placeOf(one.goroutine)
    const other =
      one && this.#waiters.find(({ goroutine, address }) => address !== one.address && placeOf(goroutine) === place)
    if (!other) return ''
    return (
      `goroutine ${one.goroutine.id} waits for the lock at ${one.address} and goroutine ${other.goroutine.id} in ` +
      `the same place for the one at ${other.address}: if each holds the lock of the other, they wait for each other`
    )
  }
}

/** Whether one of the words points to an object that the lock may be part of. */
const holds = (words: readonly number[], address: string): boolean =>
  words.some((word) => {
    const distance = Number(address) - word
    return distance >= 0 && distance < largestObject
  })

/** Where it asked for the lock. */
const placeOf = ({ frames }: Goroutine): number | undefined => frames.find((frame) => !isSync(frame))?.site

const isSync = ({ function: { package: pkg } }: Frame): boolean =>
  pkg === 'sync' || pkg === 'internal/sync' || pkg === 'runtime'

function wordsOf({ frames }: Goroutine): readonly number[] {
  return frames.flatMap((frame) => (isSync(frame) ? [] : (frame.words?.match(/0x[0-9a-f]{5,}/g) ?? []).map(Number)))
}

interface CalledAgain {
  readonly inner: string
  readonly outer: string
  /** The words show that it is one object; else they are stale, and it may be two. */
  readonly same: boolean
}

/** Two methods of one object, or of one type, where the inner one waits for a lock. */
function calledAgain({ frames }: Goroutine): CalledAgain | undefined {
  const at = frames.findIndex((frame) => !isSync(frame))
  const inner = frames[at]
  if (!inner?.function.receiver?.startsWith('*')) return undefined
  const object = receiverWord(inner)
  for (const outer of frames.slice(at + 1)) {
    if (outer.function.receiver !== inner.function.receiver || outer.function.package !== inner.function.package)
      continue
    const other = receiverWord(outer)
    if (object === undefined || other === undefined || object === other)
      return { inner: inner.function.name, outer: outer.function.name, same: object !== undefined && object === other }
  }
  return undefined
}

/** The word of a method's receiver; undefined if it may be stale. */
const receiverWord = ({ words = '' }: Frame): string | undefined => /^(0x[0-9a-f]{5,})(?:,|$)/.exec(words)?.[1]
