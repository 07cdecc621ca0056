/** One life of the server: a cold start with many requests, then less load, and often a kill. */
import { runLister } from './clients/listers.ts'
import { Informer } from './clients/watchers.ts'
import { type Pool, pick, runWriter, type WriterOptions } from './clients/writers.ts'
import { kinds, namespaces } from './objects.ts'
import type { OneServer } from './one-server.ts'
import type { Scope } from './scope.ts'

/** The common state of the lives of a round. */
export interface Round {
  readonly target: OneServer
  readonly flags: readonly string[]
  readonly pool: Pool
  readonly writers: number
  /** Approximate duration of a life after loading, in ms. */
  readonly ms: number
  /** Returns an existing revision. */
  readonly revision: () => number
  /** Informers that follow the server until the round ends. */
  readonly informers: Informer[]
  /** Their tasks, which end with `ending`. */
  readonly following: Promise<unknown>[]
  /** All other tasks, which end with `writing`. */
  readonly tasks: Promise<unknown>[]
  readonly writing: AbortSignal
  readonly ending: AbortSignal
}

export type Death = 'while it loads' | 'some time' | 'to the end'

/** Maximum time in ms for the first lists of a large kind on a busy machine. */
const loadingMs = 180_000

/**
 * The crowd leaves after this many writes, even if the first list is not complete, since its objects would delay that
 * further.
 */
const crowdWrites = 20_000

/** Options of the writers that stay after the crowd has left. */
const everything: WriterOptions = { kinds, creates: 0.3 }
const staying = 10

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

export async function live(round: Round, crowd: WriterOptions, death: Death): Promise<void> {
  const { target, flags, ms, writing } = round
  await target.start(flags)
  const life = new AbortController()
  const crowded = new AbortController()
  const loaded = new AbortController()
  const served = performance.now()
  const before = target.tallies.acknowledged
  const first = arrive(round, crowd, AbortSignal.any([writing, life.signal]), crowded.signal)
  void first.synced.then(() => loaded.abort())
  if (death === 'while it loads') await sleep(Math.random() * ms * 0.2, loaded.signal)
  else {
    const crowdedOut = setInterval(() => {
      if (target.tallies.acknowledged - before > crowdWrites) crowded.abort()
    }, 50)
    await sleep(loadingMs, loaded.signal)
    clearInterval(crowdedOut)
    target.tallies.slowestFirstListMs = Math.max(target.tallies.slowestFirstListMs, performance.now() - served)
    target.admit()
    await sleep(ms * 0.3, life.signal)
    crowded.abort()
    await sleep(ms * (death === 'some time' ? Math.random() : 0.7), life.signal)
  }
  if (death !== 'to the end') await target.kill()
  life.abort()
}

/** Starts writers, and the first informers of the kind that they write. */
function arrive(
  { target, pool, writers, informers, following, tasks, revision, ending }: Round,
  crowd: WriterOptions,
  life: AbortSignal,
  crowdGone: AbortSignal,
): Informer {
  const kind = crowd.kinds[0]!
  const first = new Informer(target, 'first', { kind }, 'whole')
  const early = [
    first,
    ...namespaces
      .slice(1)
      .map((namespace) => new Informer(target, 'first', { kind, namespace }, pick(['whole', 'streamed']))),
  ]
  informers.push(...early)
  for (const informer of early) following.push(informer.run(ending, false, 'early'))
  const crowded = AbortSignal.any([life, crowdGone])
  const scope = (): Scope => ({ kind, namespace: pick(namespaces.slice(1)) })
  tasks.push(runLister(target, 'first', { scope, revision, restMs: 50, arrival: 'early' }, crowded))
  for (let i = 0; i < writers; i++) {
    const stays = i % staying === 0
    tasks.push(runWriter(target, `writer ${i % 4}`, pool, stays ? everything : crowd, stays ? life : crowded))
  }
  return first
}
