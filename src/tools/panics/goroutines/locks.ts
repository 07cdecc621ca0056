/**
 * Finds the locks that goroutines wait for, and cycles among them, by the words of the stacks: the address of a lock is
 * inside its object.
 */
import type { Frame } from '../dump/frame.ts'
import type { Goroutine } from '../dump/goroutine.ts'
import type { GoroutineGroup } from './groups.ts'

export interface Lock {
  /** Address of the mutex; undefined if the compiler dropped it. */
  readonly address?: string
}

const lockCall = /^(?:internal\/)?sync\.\(\*(?:RW)?Mutex\)\.(?:lockSlow|Lock|RLock)$/
/** Maximum offset of a lock in its struct, in bytes. */
const maxObjectBytes = 1024
/** Maximum number of goroutines that are compared with each other. */
const maxCompared = 200

/** Returns the lock that a goroutine waits for. */
export function lockOf({ state, frames }: Goroutine): Lock | undefined {
  if (!/^(semacquire|sync\.(RW)?Mutex\.)/.test(state)) return undefined
  const calls = frames.filter(({ function: { full } }) => lockCall.test(full))
  if (calls.length === 0) return state.startsWith('sync.') ? {} : undefined
  // The first address that is not marked as stale.
  const address = calls
    .map(({ words = '' }) => /^(0x[0-9a-f]{4,})(?:,|$)/.exec(words)?.[1])
    .find((word) => word !== undefined)
  return address ? { address } : {}
}

interface Waiter {
  readonly goroutine: Goroutine
  readonly address: string
  /** The words of its frames, without those of package sync. */
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
        if (this.#waiters.length < maxCompared) this.#waiters.push({ goroutine, address, words: wordsOf(goroutine) })
      }
    }
  }

  /** Returns the number of goroutines that wait for a lock. */
  count({ address }: Lock): number {
    return address ? (this.#counts.get(address) ?? 1) : 1
  }

  /**
   * Returns a sentence if the stacks show that a goroutine of the group waits for itself, or for one that waits for it;
   * else an empty string.
   */
  cycle({ first, members }: GoroutineGroup): string {
    const twice = reentrantCall(first)
    if (twice)
      return (
        `${twice.outer} calls ${twice.inner}, which waits for a lock of ` +
        `${twice.same ? 'the same object' : 'an object of the same type'}: if ${twice.outer} holds it, it waits ` +
        'for itself'
      )
    const own = this.#waiters.filter(({ goroutine }) => members.includes(goroutine))
    for (const one of own) {
      const other = this.#waiters.find(
        ({ address, words }) =>
          address !== one.address && pointsInto(one.words, address) && pointsInto(words, one.address),
      )
      if (other)
        return (
          `goroutine ${one.goroutine.id} waits for the lock at ${one.address} and goroutine ` +
          `${other.goroutine.id} for the one at ${other.address}, and both use both objects: they likely wait for ` +
          'each other'
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

/** Returns true if a word points to an object that may contain the lock. */
const pointsInto = (words: readonly number[], address: string): boolean =>
  words.some((word) => {
    const distance = Number(address) - word
    return distance >= 0 && distance < maxObjectBytes
  })

/** The call site that requested the lock. */
const placeOf = ({ frames }: Goroutine): number | undefined => frames.find((frame) => !isSync(frame))?.site

const isSync = ({ function: { package: pkg } }: Frame): boolean =>
  pkg === 'sync' || pkg === 'internal/sync' || pkg === 'runtime'

function wordsOf({ frames }: Goroutine): readonly number[] {
  return frames.flatMap((frame) => (isSync(frame) ? [] : (frame.words?.match(/0x[0-9a-f]{5,}/g) ?? []).map(Number)))
}

interface ReentrantCall {
  readonly inner: string
  readonly outer: string
  /** True if the words show the same object. False if they are stale, so that it may be two objects. */
  readonly same: boolean
}

/** Finds two methods of one object or type on a stack, the inner of which waits for a lock. */
function reentrantCall({ frames }: Goroutine): ReentrantCall | undefined {
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

/** Returns the word of a method's receiver; undefined if it may be stale. */
const receiverWord = ({ words = '' }: Frame): string | undefined => /^(0x[0-9a-f]{5,})(?:,|$)/.exec(words)?.[1]
