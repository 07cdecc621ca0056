/**
 * The API torture: a server on a full store is started cold under many requests, killed, compacted and restarted. The
 * observations of its clients are checked after each round.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from './checker/check.ts'
import { type Fault, History } from './checker/history.ts'
import { NoAnswerError } from './clients/connection.ts'
import { anyScope, list, runLister } from './clients/listers.ts'
import { Target } from './clients/target.ts'
import { Informer, runHistorian } from './clients/watchers.ts'
import { chance, Pool, pick, type WriterOptions } from './clients/writers.ts'
import { fillStore } from './fill.ts'
import { live, type Round } from './life.ts'
import { bodyOf, collectionPath, kinds, namespaces, shards, templateNamespace } from './objects.ts'
import type { Scope } from './scope.ts'
import { build } from './server-process.ts'
import { settle } from './settle.ts'

export interface RoundOptions {
  /** Approximate time between two kills, in s; also the lifetime of the last server. */
  readonly seconds: number
  readonly kills: number
  /** Number of writers that begin when the server is ready. */
  readonly writers: number
  /** Compacts old revisions within seconds. */
  readonly compact?: boolean
}

export interface RoundReport {
  readonly writes: number
  readonly acknowledged: number
  readonly lists: number
  readonly reads: number
  readonly watches: number
  readonly events: number
  readonly slowestFirstListMs: number
  readonly faults: readonly Fault[]
}

export class ApiTorture {
  readonly directory: string
  readonly history = new History()
  round = 0
  #start = 0

  private constructor(directory: string) {
    this.directory = directory
  }

  /** Creates a data directory with this many objects. */
  static async begin(objects: number): Promise<ApiTorture> {
    build()
    const torture = new ApiTorture(await mkdtemp(join(tmpdir(), 't8s-torture-api-')))
    await torture.#prepare()
    await fillStore(torture.directory, torture.history, objects)
    torture.#start = torture.history.writes.at(-1)?.revision ?? 0
    return torture
  }

  /** Removes the data. */
  end(): Promise<void> {
    return rm(this.directory, { recursive: true })
  }

  async #prepare(): Promise<void> {
    const target = new Target(this.directory, this.history)
    await target.start([])
    const connection = (await target.connection('preparation'))!
    const make = async (path: string, body: object): Promise<void> => {
      const { status, text } = await connection.request('POST', path, body)
      if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
    }
    for (const name of [...namespaces, templateNamespace]) await make('/api/v1/namespaces', { metadata: { name } })
    for (const kind of kinds)
      await make(collectionPath(kind, templateNamespace), bodyOf(kind, 'template', { count: 0, shard: 0 }))
    await target.stop()
  }

  /** Runs one round. The server is down before and after it. */
  async run({ seconds, kills, writers, compact = false }: RoundOptions): Promise<RoundReport> {
    this.round++
    const target = new Target(this.directory, this.history)
    const before = this.history.writes.length
    if (compact) this.history.compactable = Number.POSITIVE_INFINITY
    const ending = new AbortController()
    const writing = new AbortController()
    const informers = this.#informers(target)
    const revision = (): number => someRevision(this.history, this.#start)
    const round: Round = {
      target,
      flags: compact ? ['--compaction-interval', '1s', '--compaction-retention', '3s'] : [],
      pool: new Pool(livePuts(this.history)),
      writers,
      ms: seconds * 1000,
      revision,
      informers,
      following: informers.map((informer, i) => informer.run(ending.signal, i % 5 === 4)),
      tasks: startReaders(target, revision, writing.signal),
      writing: writing.signal,
      ending: ending.signal,
    }
    try {
      await liveOften(round, kills)
      writing.abort()
      await Promise.all(round.tasks)
      await settle(target, this.round, informers)
      await observeEnd(target, informers)
    } catch (error) {
      // If a request without a kill has no response, the round ends, and the observations are checked.
      if (!(error instanceof NoAnswerError)) throw error
      target.fault('the server keeps running', error.message)
    } finally {
      writing.abort()
      ending.abort()
      await Promise.allSettled([...round.tasks, ...round.following])
      await target.kill()
    }
    const faults = [...target.faults, ...check(this.history, target.observations, this.#start)]
    const newest = Math.max(
      this.#start,
      ...target.observations.map((observation) => (observation.what === 'list' ? observation.revision : 0)),
    )
    if (compact) this.history.compactable = newest
    this.#start = newest
    return { ...countsOf(target, this.history.writes.length - before), faults }
  }

  /** Creates informers of kinds, namespaces and selectors, in all styles. */
  #informers(target: Target): Informer[] {
    const scopes: Scope[] = [
      ...kinds.map((kind) => ({ kind })),
      ...kinds.map((kind) => ({ kind, shard: pick(shards) })),
      ...kinds.map((kind) => ({ kind, namespace: pick(namespaces) })),
      ...kinds.map((kind) => ({ kind, namespace: pick(namespaces), shard: pick(shards) })),
    ]
    return scopes.map(
      (scope, i) => new Informer(target, `informer ${i % 6}`, scope, pick(['whole', 'pages', 'streamed'])),
    )
  }
}

/** Starts clients that list and watch until `signal` aborts. */
function startReaders(target: Target, revision: () => number, signal: AbortSignal): Promise<unknown>[] {
  const lister = { scope: anyScope, revision, restMs: 300 }
  return [0, 1, 2, 3].flatMap((i) => [
    runLister(target, `lister ${i}`, lister, signal),
    runHistorian(target, `historian ${i}`, anyScope, revision, signal),
  ])
}

/** Starts the server once more after each of this many kills. */
async function liveOften(round: Round, kills: number): Promise<void> {
  for (let start = 0; start <= kills; start++) {
    // Alternates: creating only objects of the largest kind, which waits for no read, or all writes.
    const crowd: WriterOptions = start % 2 === 0 ? { kinds: ['podtemplates'], creates: 1 } : { kinds, creates: 0.3 }
    await live(round, crowd, start === kills ? 'to the end' : start % 3 === 1 ? 'while it loads' : 'some time')
  }
}

/** Records the caches of the informers, and a last list of each kind. */
async function observeEnd(target: Target, informers: readonly Informer[]): Promise<void> {
  for (const informer of informers) {
    const cache = informer.cache()
    if (cache) target.observations.push(cache)
  }
  const connection = (await target.connection('last'))!
  await Promise.all(
    kinds.map((kind) => list(target, connection, { scope: { kind }, mode: 'newest', label: 'the last list' })),
  )
}

/** Returns the existing states as far as they are known, for the writers to continue with. */
function livePuts(history: History): Iterable<ReturnType<History['begin']>> {
  const live = new Map<number, ReturnType<History['begin']>>()
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
function someRevision({ writes }: History, start: number): number {
  for (let tries = 0; tries < 50; tries++) {
    const back = chance(0.7) ? Math.floor(Math.random() * 3000) : Math.floor(Math.random() * writes.length)
    const revision = writes.at(-1 - back)?.revision
    if (revision) return revision
  }
  return start
}

function countsOf({ observations, tallies }: Target, writes: number): Omit<RoundReport, 'faults'> {
  let events = 0
  const counts = { list: 0, read: 0, watch: 0, expired: 0 }
  for (const observation of observations) {
    counts[observation.what]++
    if (observation.what === 'watch') events += observation.events.length
  }
  return {
    writes,
    acknowledged: tallies.acknowledged,
    slowestFirstListMs: tallies.slowestFirstListMs,
    lists: counts.list,
    reads: counts.read,
    watches: counts.watch,
    events,
  }
}
