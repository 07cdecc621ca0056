/** One life of the server: it starts cold, everybody asks at once, the crowd goes, and often it is killed. */
import { runLister } from './crowd/listers.ts'
import type { Target } from './crowd/target.ts'
import { Informer } from './crowd/watchers.ts'
import { type Pool, pick, runWriter, type WriterOptions } from './crowd/writers.ts'
import { kinds, namespaces } from './objects.ts'
import type { Scope } from './scope.ts'

/** What the lives of a round share. */
export interface Round {
  readonly target: Target
  readonly flags: readonly string[]
  readonly pool: Pool
  readonly writers: number
  /** About how long a life lasts, once everything is loaded. */
  readonly ms: number
  /** A revision that was there. */
  readonly revision: () => number
  /** Everybody who follows the server until the round ends. */
  readonly informers: Informer[]
  /** Their work, which ends with `ending`. */
  readonly following: Promise<unknown>[]
  /** All other work, which ends with `writing`. */
  readonly tasks: Promise<unknown>[]
  readonly writing: AbortSignal
  readonly ending: AbortSignal
}

export type Death = 'while it loads' | 'some time' | 'to the end'

/** The first lists of a large kind may take that long on a busy machine. */
const loadingMs = 180_000

/**
 * The crowd goes after so many writes, even if the first list has not been answered: what it makes would only delay it.
 */
const crowdWrites = 20_000

/** What those do who stay when the crowd has gone. */
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

/** Writers, and the first to list the kind that they write. */
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
