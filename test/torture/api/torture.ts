/**
 * The API torture: a server on a full store is started cold under many requests, killed, compacted and restarted. The
 * observations of its clients are checked after each round.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from './checker/check.ts'
import { History } from './checker/history.ts'
import { NoAnswerError } from './clients/connection.ts'
import { Pool, type WriterOptions } from './clients/writers.ts'
import { fillStore } from './fill.ts'
import { live, type Round } from './life.ts'
import { bodyOf, collectionPath, kinds, namespaces, templateNamespace } from './objects.ts'
import { OneServer } from './one-server.ts'
import { makeInformers, observeEnd, startReaders } from './readers.ts'
import { countsOf, type RoundReport } from './report.ts'
import { build } from './server-process.ts'
import { settle } from './settle.ts'
import { livePuts, someRevision } from './states.ts'

export interface RoundOptions {
  /** Approximate time between two kills, in s; also the lifetime of the last server. */
  readonly seconds: number
  readonly kills: number
  /** Number of writers that begin when the server is ready. */
  readonly writers: number
  /** Compacts old revisions within seconds. */
  readonly compact?: boolean
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
    const target = new OneServer(this.directory, this.history)
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
    const target = new OneServer(this.directory, this.history)
    const before = this.history.writes.length
    if (compact) this.history.compactable = Number.POSITIVE_INFINITY
    const ending = new AbortController()
    const writing = new AbortController()
    const informers = makeInformers(target)
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
}

/** Starts the server once more after each of this many kills. */
async function liveOften(round: Round, kills: number): Promise<void> {
  for (let start = 0; start <= kills; start++) {
    // Alternates: creating only objects of the largest kind, which waits for no read, or all writes.
    const crowd: WriterOptions = start % 2 === 0 ? { kinds: ['podtemplates'], creates: 1 } : { kinds, creates: 0.3 }
    await live(round, crowd, start === kills ? 'to the end' : start % 3 === 1 ? 'while it loads' : 'some time')
  }
}
