/** Parts of the tests of the suite: the form of a test, short writes, and a watch that collects its events. */
import assert from 'node:assert/strict'
import type { ChangeEvent, Changes, Entry, KeyRange, PortionSize, Store } from '../store.ts'

export interface OpenedStore {
  readonly store: Store
  /** Closes the store and reopens it with the same data; absent for drivers that store nothing. */
  reopen?(): Promise<Store>
  /** Makes the store's disk reject writes until the returned function is called; absent for drivers without a disk. */
  refuseWrites?(): () => void
  /** Transactions of 2,000 changes in the test of a long history. Default: 100. */
  readonly longHistory?: number
  cleanup(): Promise<void>
}

export const everything: KeyRange = { start: '', end: '\u{10ffff}' }
export const bytes = (text: string) => Buffer.from(text)
export const shown = (entry: Entry | undefined) => entry && `${entry.key}=${entry.value}@${entry.revision}`
export const shownEvent = ({ type, key, value, revision, previous }: ChangeEvent) =>
  `${revision} ${type} ` +
  `${key}${value ? `=${value}` : ''}${previous ? ` was ${previous.value}@${previous.revision}` : ''}`

export const put = (store: Store, key: string, value: string) =>
  store.commit({ conditions: [], operations: [{ key, value: bytes(value) }] })
export const remove = (store: Store, key: string) =>
  store.commit({ conditions: [], operations: [{ key, delete: true }] })
export const create = (store: Store, key: string, value: string) =>
  store.commit({ conditions: [{ key, revision: 0 }], operations: [{ key, value: bytes(value) }] })

/** Starts a watch that collects its events. */
export function follow(store: Store, range: KeyRange, after: number) {
  const events: ChangeEvent[] = []
  const calls: number[] = []
  let ended: Error | undefined
  let check = () => {}
  const watch = store.watch(range, after, {
    events: (more) => {
      assert.equal(ended, undefined, 'nothing follows the end')
      events.push(...more)
      calls.push(more.length)
      check()
    },
    end: (error) => {
      assert.equal(ended, undefined, 'a watch ends once')
      ended = error
      check()
    },
  })
  const until = (condition: () => boolean, what: string) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`timed out waiting for ${what}; got ${events.length} events, end: ${ended}`)),
        10_000,
      )
      check = () => {
        if (!condition()) return
        clearTimeout(timer)
        resolve()
      }
      check()
    })
  return {
    watch,
    events,
    calls,
    stop: () => watch.stop(),
    ended: () => ended,
    count: (count: number) => until(() => events.length >= count, `${count} events`),
    end: async () => {
      await until(() => ended !== undefined, 'the end')
      return ended!
    },
  }
}

/** Yields all changes after a revision, portion by portion, up to the current revision. */
export async function* changesAfter(
  store: Store,
  range: KeyRange,
  after: number,
  size?: PortionSize,
): AsyncGenerator<Changes> {
  for (let seen = after; seen < (await store.currentRevision()); ) {
    const portion = await store.changes(range, seen, size)
    seen = portion.through
    yield portion
    await turn()
  }
}

export const turn = () => new Promise(setImmediate)

/** Tests by the behaviour that they check, each with an empty store. */
export type Behaviours = Readonly<Record<string, (store: Store, opened: OpenedStore) => Promise<void>>>
