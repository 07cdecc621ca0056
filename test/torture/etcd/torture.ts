/**
 * The torture of several API servers on one etcd: clients write, list and watch through all of them, while members of
 * etcd and API servers are killed, cut off and stopped. The observations are checked after each round.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '../../support/wait-for.ts'
import { check } from '../api/checker/check.ts'
import { History } from '../api/checker/history.ts'
import { NoAnswerError } from '../api/clients/connection.ts'
import { Pool, runWriter } from '../api/clients/writers.ts'
import { kinds, namespaces } from '../api/objects.ts'
import { makeInformers, observeEnd, startReaders } from '../api/readers.ts'
import { countsOf, type RoundReport } from '../api/report.ts'
import { settle } from '../api/settle.ts'
import { livePuts, someRevision } from '../api/states.ts'
import { disturb, type FaultName, type Tortured } from './faults.ts'
import { Fleet } from './fleet.ts'
import { Member } from './member.ts'
import { makePlaces } from './network.ts'
import { recoveryTime } from './recovery.ts'

export interface EtcdTortureOptions {
  /** Gets all files. */
  readonly folder: string
  readonly writers: number
  /** The longest time until servers are well again that is no fault, in ms. Default: any. */
  readonly recoveryMs?: number | undefined
  /** From 0 to below 1. */
  readonly random: () => number
}

export interface EtcdRoundReport extends RoundReport {
  /** Failed responses during faults. */
  readonly excused: number
  readonly slowestRecoveryMs: number
}

const memberCount = 3
const serverCount = 2
const token = 'torture'
/** The share of new objects among writes. */
const creates = 0.3

export class EtcdTorture {
  readonly #options: EtcdTortureOptions
  readonly #members: readonly Member[]
  readonly #history = new History()
  #round = 0
  #start = 0

  /** Makes the network; the namespaces of this process must be its own. */
  constructor(options: EtcdTortureOptions) {
    this.#options = options
    this.#members = makePlaces(memberCount).map((place) => new Member(place, options.folder))
    writeFileSync(join(options.folder, 'tokens.csv'), `${token},torture,1,"system:masters"\n`, { mode: 0o600 })
  }

  /** Starts etcd. */
  async begin(): Promise<void> {
    for (const member of this.#members) member.start(this.#members)
    for (const member of this.#members)
      await waitFor(`etcd at ${member.clientUrl} serves`, () => member.isWell(), { everyMs: 100 })
  }

  async end(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.kill()))
  }

  /** Runs one round with these faults, one after the other. The API servers are down before and after it. */
  async run(faults: readonly FaultName[], compact = false): Promise<EtcdRoundReport> {
    const fleet = this.#fleet(compact)
    const before = this.#history.writes.length
    this.#round++
    if (compact) this.#history.compactable = Number.POSITIVE_INFINITY
    const writing = new AbortController()
    const ending = new AbortController()
    const revision = (): number => someRevision(this.#history, this.#start)
    const informers = makeInformers(fleet)
    const tasks: Promise<unknown>[] = []
    let slowestRecoveryMs = 0
    try {
      await Promise.all(fleet.servers.map((server) => fleet.start(server)))
      if (this.#round === 1) this.#start = await prepare(fleet)
      tasks.push(...informers.map((informer, i) => informer.run(ending.signal, i % 5 === 4)))
      const readers = [...startReaders(fleet, revision, writing.signal), ...this.#startWriters(fleet, writing.signal)]
      for (const name of faults) slowestRecoveryMs = Math.max(slowestRecoveryMs, await this.#disturb(fleet, name))
      await delay(1000)
      writing.abort()
      await Promise.all(readers)
      await settle(fleet, this.#round, informers)
      await observeEnd(fleet, informers)
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      fleet.fault('the servers keep running', error.message)
    } finally {
      writing.abort()
      ending.abort()
      await Promise.allSettled(tasks)
      await fleet.stop()
    }
    return { ...this.#report(fleet, before, compact), excused: fleet.excused, slowestRecoveryMs }
  }

  #startWriters(fleet: Fleet, signal: AbortSignal): Promise<unknown>[] {
    const pool = new Pool(livePuts(this.#history))
    return Array.from({ length: this.#options.writers }, (_, i) =>
      runWriter(fleet, `writer ${i % 8}`, pool, { kinds, creates }, signal),
    )
  }

  /** Resolves with the time until the servers were well after the fault, in ms. */
  async #disturb(fleet: Fleet, name: FaultName): Promise<number> {
    const { random, recoveryMs = Number.POSITIVE_INFINITY } = this.#options
    await delay(500 + random() * 1500)
    const tortured: Tortured = { members: this.#members, fleet, random }
    let ms = 0
    await fleet.disturbed(async () => {
      await disturb(name, tortured)
      ms = await recoveryTime(fleet)
    })
    if (ms > recoveryMs)
      fleet.fault('the servers recover by themselves', `after the fault ${name} it took ${Math.round(ms)} ms`)
    return ms
  }

  #report(fleet: Fleet, before: number, compact: boolean): RoundReport {
    const faults = [...fleet.faults, ...check(this.#history, fleet.observations, this.#start)]
    const newest = Math.max(
      this.#start,
      ...fleet.observations.map((observation) => (observation.what === 'list' ? observation.revision : 0)),
    )
    if (compact) this.#history.compactable = newest
    this.#start = newest
    return { ...countsOf(fleet, this.#history.writes.length - before), faults }
  }

  #fleet(compact: boolean): Fleet {
    const { folder } = this.#options
    return new Fleet({
      history: this.#history,
      count: serverCount,
      token,
      log: (port) => join(folder, `apiserver-${port}.log`),
      words: (port) => [
        'apiserver',
        `--etcd-servers=${this.#members.map(({ clientUrl }) => clientUrl).join()}`,
        `--secure-port=${port}`,
        '--bind-address=127.0.0.1',
        `--cert-dir=${join(folder, `certificates-${port}`)}`,
        `--data-dir=${join(folder, `data-${port}`)}`,
        `--token-auth-file=${join(folder, 'tokens.csv')}`,
        '--disable-admission-plugins=ServiceAccount',
        ...(compact ? ['--etcd-compaction-interval=3s'] : []),
      ],
    })
  }
}

/** Creates the namespaces of the objects. Returns the revision of the last one. */
async function prepare(fleet: Fleet): Promise<number> {
  const connection = (await fleet.connection('preparation'))!
  let revision = 0
  for (const name of namespaces) {
    const { status, text } = await connection.request('POST', '/api/v1/namespaces', { metadata: { name } })
    if (status !== 201) throw new Error(`namespace ${name}: ${status} ${text}`)
    const { metadata } = JSON.parse(text) as { readonly metadata: { readonly resourceVersion: string } }
    revision = Number(metadata.resourceVersion)
  }
  return revision
}
