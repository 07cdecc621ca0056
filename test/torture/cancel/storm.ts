/**
 * A cancel storm: requests of every kind, to webhooks, aggregated APIs and kubelets that are slow, hang, reset or
 * respond incorrectly, with clients that cancel at random times. Afterwards the server must be in the same state as
 * before.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../fuzz/random.ts'
import { podAddress } from '../../proxy/backend.ts'
import { waitFor } from '../../support/wait-for.ts'
import { type Backend, startBackend } from './backend.ts'
import { patient, randomCancellation, StormClient } from './client.ts'
import { stormFlags } from './flags.ts'
import { stormObjects } from './objects.ts'
import { everyRequest, oneRequest, type StormRequest } from './requests.ts'
import { type StormServer, startStormServer } from './server.ts'
import { leaks, type Traces, tracesOf } from './traces.ts'

export interface StormReport {
  readonly sent: number
  /** Number of cancelled requests. */
  readonly left: number
  /** Number of responses by status. */
  readonly statuses: ReadonlyMap<number, number>
  readonly kinds: ReadonlySet<string>
  readonly manners: ReadonlyMap<string, number>
  readonly residentMb: number
  /** Empty without faults. */
  readonly faults: readonly string[]
}

const clientsAtOnce = 24
/** Node's warnings, and errors that were caught only at the last level. */
const warningPattern =
  /^.*(?:\(node:\d+\).*Warning|unhandled (?:rejection|exception)|apiserver panic'd|is restarted).*(?:\n {4}at .*)*/gm

export class Storm {
  readonly folder: string
  readonly #random: Random
  readonly #backend: Backend
  readonly #server: StormServer
  readonly #before: Traces
  #judged = 0

  private constructor(folder: string, random: Random, backend: Backend, server: StormServer, before: Traces) {
    this.folder = folder
    this.#random = random
    this.#backend = backend
    this.#server = server
    this.#before = before
  }

  static async begin(seed: number): Promise<Storm> {
    const folder = mkdtempSync(join(tmpdir(), 't8s-storm-'))
    const random = new Random(seed)
    const address = podAddress ?? '127.0.0.1'
    const backend = await startBackend(random, address)
    const server = await startStormServer(folder, stormFlags(folder, backend))
    const client = new StormClient(server.url)
    for (const { method, path, body } of stormObjects(backend, address)) {
      const type = method === 'PATCH' ? 'merge-patch+json' : 'json'
      const headers = { 'content-type': `application/${type}` }
      await expectGood(client, {
        kind: 'object',
        method,
        path,
        body: JSON.stringify(body),
        headers,
        good: [200, 201, 409],
      })
    }
    await expectAllGood(client, random)
    client.close()
    const storm = new Storm(folder, random, backend, server, await tracesOf(server))
    return storm
  }

  /** Storms for `seconds`, and then reports faults. */
  async run(seconds: number): Promise<StormReport> {
    const deadline = performance.now() + seconds * 1000
    const tally = { sent: 0, left: 0, statuses: new Map<number, number>(), kinds: new Set<string>() }
    const storm = async (): Promise<void> => {
      let client = new StormClient(this.#server.url)
      while (performance.now() < deadline && this.#server.ended() === undefined) {
        const request = oneRequest(this.#random)
        const { status, left } = await client.send(
          impatient(request, this.#random),
          this.#random.pick(['h1', 'h2']),
          randomCancellation(this.#random),
        )
        tally.sent++
        tally.kinds.add(request.kind)
        if (left) tally.left++
        if (status !== undefined) tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
        if (!this.#random.chance(0.05)) continue
        client.close()
        client = new StormClient(this.#server.url)
      }
      client.close()
    }
    this.#backend.storm()
    await Promise.all(Array.from({ length: clientsAtOnce }, storm))
    this.#backend.calm()
    const faults = await this.#judge()
    const residentMb = this.#server.ended() === undefined ? this.#server.residentMb() : 0
    return { ...tally, manners: this.#backend.manners, residentMb, faults }
  }

  /** Removes its files if there were no faults. */
  async end(isWell: boolean): Promise<void> {
    await this.#server.stop()
    this.#backend.stop()
    if (isWell) rmSync(this.folder, { recursive: true, force: true })
  }

  async #judge(): Promise<readonly string[]> {
    const ended = this.#server.ended()
    if (ended !== undefined) return [`the server ended with ${ended}: ${this.#server.printed().slice(-2000)}`]
    const faults: string[] = []
    const client = new StormClient(this.#server.url)
    await expectAllGood(client, this.#random).catch((error: Error) =>
      faults.push(`the server does not respond correctly: ${error.message} ${error.cause ?? ''}`),
    )
    client.close()
    faults.push(...(await leaks(this.#server, this.#before)))
    const printed = this.#server.printed()
    const warnings = printed.slice(this.#judged).match(warningPattern) ?? []
    this.#judged = printed.length
    return [...faults, ...warnings]
  }
}

/** Adds a timeout to some short requests. */
function impatient(request: StormRequest, random: Random): StormRequest {
  if (request.isLong || !random.chance(0.15)) return request
  const separator = request.path.includes('?') ? '&' : '?'
  return { ...request, path: `${request.path}${separator}timeout=${1 + random.below(1500)}ms` }
}

/** Resolves when requests of all kinds have the expected status. */
async function expectAllGood(client: StormClient, random: Random): Promise<void> {
  for (const request of everyRequest(random)) await expectGood(client, request)
}

/**
 * Retries, since effects of an outage are temporary: an aggregated API is probed periodically, a cached answer expires.
 */
async function expectGood(client: StormClient, request: StormRequest): Promise<void> {
  for (const protocol of ['h1', 'h2'] as const)
    await waitFor(
      `${request.kind} (${request.method} ${request.path}, ${protocol}) has the expected status`,
      async () => {
        const { status, text } = await client.send(request, protocol, patient)
        if (status === undefined || !(request.good?.includes(status) ?? status < 400))
          throw new Error(`${status} ${text}`)
        return true
      },
      { deadlineMs: 40_000, everyMs: 200 },
    )
}
