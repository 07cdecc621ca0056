/** Copies a state into a store that other processes may share, where revisions cannot be chosen. */
import { hash } from 'node:crypto'
import { deadlineIn } from './expiry/expiry.ts'
import { portionsAt, type StoreState } from './state.ts'
import { type Entry, type KeyRange, prefixRange, type Store } from './store.ts'

export interface CopyOptions {
  /** The keys of the store below it are the target; there must be none. */
  readonly prefix: string
  /** Called with what is done, and with the number of steps that are done and of all. */
  readonly progress?: (what: 'raising the revision' | 'copying' | 'checking', done: number, all: number) => void
  /** Seconds since 1970. Default: now. */
  readonly now?: () => number
}

export interface Copied {
  readonly entries: number
  /** The revision of the store after the copy; older ones are compacted. */
  readonly revision: number
}

/** Commits at the same time. */
const atOnce = 64
/** At some thousand a second, more take hours. */
const maxRaise = 50_000_000
/** Outside of all objects. */
const raisingKey = 't8s/raised-revision'
/** API servers announce themselves again within seconds. */
const shortLived = ['/registry/masterleases/', '/registry/peerserverleases/']

/** The copy cannot be made, or is not equal. The message says what to do. */
export class CopyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CopyError'
  }
}

/**
 * Raises the store's revision above that of the state, so that no revision that a client has seen means something else,
 * then copies, compares, and compacts what is older. Throws CopyError.
 */
export async function copyState(state: StoreState, store: Store, options: CopyOptions): Promise<Copied> {
  const { prefix, progress = () => {}, now = () => Date.now() / 1000 } = options
  const range = prefixRange(prefix)
  if ((await store.count(range)) > 0)
    throw new CopyError(
      `it has keys below ${prefix.replace(/\/$/, '')}: it was left as it is; give an empty one, or delete them`,
    )
  await raise(store, state.revision, progress)
  const { count, deadlines } = await survey(state)
  const copied = new Map<string, string>()
  for await (const entries of objects(state)) {
    for (let at = 0; at < entries.length; at += atOnce) {
      const some = entries.slice(at, at + atOnce)
      await Promise.all(some.map((entry) => create(store, entry, deadlines.get(entry.key), now())))
      for (const { key, value } of some) copied.set(key, digestOf(value))
      progress('copying', copied.size, count)
    }
  }
  await compare(store, range, { copied, now, deadlines, checked: (done) => progress('checking', done, count) })
  const revision = await store.currentRevision()
  await store.compact(revision)
  return { entries: count, revision }
}

/** Each transaction raises the revision by one. */
async function raise(store: Store, goal: number, progress: NonNullable<CopyOptions['progress']>): Promise<void> {
  const first = await store.currentRevision()
  if (goal - first > maxRaise)
    throw new CopyError(
      `its revision is ${first}, and that of the source ${goal}: restore an empty etcd with ` +
        '`etcdutl snapshot restore --bump-revision`, so that its revision is higher, and copy then',
    )
  let current = first
  for (; current < goal; current = await store.currentRevision()) {
    const missing = Math.min(goal - current, atOnce)
    const one = { conditions: [], operations: [{ key: raisingKey, value: Buffer.alloc(0) }] }
    await Promise.all(Array.from({ length: missing }, () => store.commit(one)))
    progress('raising the revision', current - first, goal - first)
  }
  await store.commit({ conditions: [], operations: [{ key: raisingKey, delete: true }] })
}

/** The number of objects, and the deadlines of those that have one. */
async function survey(state: StoreState): Promise<{ count: number; deadlines: Map<string, number> }> {
  const deadlines = new Map<string, number>()
  let count = 0
  for await (const entries of state.portions())
    for (const entry of entries) {
      const found = deadlineIn(entry)
      if (found) deadlines.set(found.key, found.deadline)
      else if (isLasting(entry)) count++
    }
  return { count, deadlines }
}

async function* objects(state: StoreState): AsyncGenerator<Entry[]> {
  for await (const entries of state.portions()) yield entries.filter((entry) => isLasting(entry) && !deadlineIn(entry))
}

const isLasting = ({ key }: Entry): boolean => !shortLived.some((prefix) => key.startsWith(prefix))

async function create(store: Store, { key, value }: Entry, deadline: number | undefined, now: number): Promise<void> {
  const ttlSeconds = deadline === undefined ? undefined : Math.max(1, Math.ceil(deadline - now))
  const { committed } = await store.commit({
    conditions: [{ key, revision: 0 }],
    // A portion may reuse its bytes.
    operations: [{ key, value: Buffer.from(value), ttlSeconds }],
  })
  if (!committed)
    throw new CopyError(`another process has written ${key} meanwhile: stop it, empty the store, and repeat`)
}

const digestOf = (value: Buffer): string => hash('sha256', value, 'base64')

interface Comparison {
  /** The digests of the values, by key. Emptied. */
  readonly copied: Map<string, string>
  readonly now: () => number
  readonly deadlines: ReadonlyMap<string, number>
  readonly checked: (done: number) => void
}

/** Reads all of the target, and compares it with what was written. */
async function compare(store: Store, range: KeyRange, { copied, now, deadlines, checked }: Comparison): Promise<void> {
  let done = 0
  const check = (key: string, value: Buffer | undefined): void => {
    const hasExpired = !value && (deadlines.get(key) ?? Number.POSITIVE_INFINITY) <= now() + 1
    if (!hasExpired && (!value || copied.get(key) !== digestOf(value)))
      throw new CopyError(`${key} is not equal in both: delete what was copied, and repeat`)
    copied.delete(key)
    checked(++done)
  }
  for await (const entries of portionsAt(store, range, await store.currentRevision()))
    for (const { key, value } of entries) check(key, value)
  for (const key of copied.keys()) check(key, (await store.get(key))?.value)
}
