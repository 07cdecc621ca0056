/**
 * The load generator: kload's phases against any Kubernetes API server, in a separate process. Takes its options as
 * JSON in the first argument and prints a JSON line per phase. Uses one HTTP/2 connection for requests, as Go's client
 * does, and one for each watcher.
 */

import type { ClientHttp2Session } from 'node:http2'
import { parseArgs } from 'node:util'
import { deploymentOf } from './deployment.ts'
import { type Kind, nameOf, namespace, objectOf } from './objects.ts'
import { openSession } from './session.ts'
import { openWatcher } from './watcher.ts'

export interface LoadOptions {
  readonly url: string
  readonly token: string
  readonly kind: Kind
  readonly n: number
  readonly clients: number
  readonly lists: number
  readonly watchers: number
  readonly watched: number
  readonly phases: readonly string[]
}

export interface PhaseResult {
  readonly phase: string
  /** Operations (for `watch`: events) per second. */
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly megabytes: number
  readonly failures: number
  readonly firstFailure?: string
}

/** Number of objects in apply phases. */
const applied = 200
/** Number of the first object of the phase `watch`. */
const firstWatched = 900_000

/** The response to a request. */
interface Reply {
  readonly status: number
  readonly chunks: readonly Buffer[]
  readonly bytes: number
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

class Load {
  readonly #options: LoadOptions
  readonly #session: ClientHttp2Session
  readonly #collection: string

  constructor(options: LoadOptions) {
    this.#options = options
    this.#session = openSession(options.url)
    const root = options.kind === 'gadgets' ? '/apis/bench.example.com/v1' : '/api/v1'
    this.#collection = `${root}/namespaces/${namespace}/${options.kind}`
  }

  async run(): Promise<void> {
    await this.#send(
      'POST',
      '/api/v1/namespaces',
      `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"${namespace}"}}`,
    )
    for (const phase of this.#options.phases)
      for (const result of await this.#phase(phase)) process.stdout.write(`${JSON.stringify(result)}\n`)
    this.#session.close()
  }

  #send(
    method: string,
    path: string,
    body?: string,
    type = 'application/json',
    accept = 'application/json',
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const headers = { ':method': method, ':path': path, authorization: `Bearer ${this.#options.token}`, accept }
      const stream = this.#session.request(body === undefined ? headers : { ...headers, 'content-type': type }, {
        endStream: body === undefined,
      })
      let status = 0
      let bytes = 0
      const chunks: Buffer[] = []
      stream.on('response', (received) => {
        status = Number(received[':status'])
      })
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        chunks.push(chunk)
      })
      stream.on('end', () => resolve({ status, chunks, bytes }))
      stream.on('error', reject)
      if (body !== undefined) stream.end(body)
    })
  }

  #object(i: number): string {
    return `${this.#collection}/${nameOf(i)}`
  }

  async #phase(phase: string): Promise<PhaseResult[]> {
    const { n, lists, kind } = this.#options
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
    switch (phase) {
      case 'create':
        return [await this.#measure(phase, n, (i) => this.#send('POST', this.#collection, objectOf(kind, i)), 201)]
      case 'get':
        return [
          await this.#measure(phase, n * 4, () => this.#send('GET', this.#object(Math.floor(Math.random() * n))), 200),
        ]
      case 'list':
        return [await this.#measure(phase, lists, () => this.#send('GET', this.#collection), 200)]
      case 'list0':
        return [
          await this.#measure(phase, lists, () => this.#send('GET', `${this.#collection}?resourceVersion=0`), 200),
        ]
      case 'table':
        return [
          await this.#measure(
            phase,
            lists,
            () => this.#send('GET', this.#collection, undefined, undefined, table),
            200,
          ),
        ]
      case 'update':
        return [await this.#measure(phase, n, (i) => this.#update(i), 200)]
      case 'patch':
        return [
          await this.#measure(
            phase,
            n,
            (i) =>
              this.#send(
                'PATCH',
                this.#object(i),
                `{"metadata":{"annotations":{"t":"${i}"}}}`,
                'application/merge-patch+json',
              ),
            200,
          ),
        ]
      case 'apply-first':
        return [await this.#measure(phase, applied, (i) => this.#apply(i, 0), 201)]
      case 'apply-same':
        return [await this.#measure(phase, n, (i) => this.#apply(i % applied, 0), 200)]
      case 'apply':
        return [await this.#measure(phase, n, (i) => this.#apply(i % applied, 1 + Math.floor(i / applied)), 200)]
      case 'watch':
        return this.#watch()
      case 'delete':
        return [await this.#measure(phase, n, (i) => this.#send('DELETE', this.#object(i)), 200)]
      default:
        throw new Error(
          `unknown phase ${phase}: choose of create, get, list, list0, table, update, patch, apply-first, ` +
            'apply-same, apply, watch, delete',
        )
    }
  }

  #apply(i: number, round: number): Promise<Reply> {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${nameOf(i)}?fieldManager=bench`
    return this.#send('PATCH', path, deploymentOf(nameOf(i), round), 'application/apply-patch+yaml')
  }

  async #update(i: number): Promise<Reply> {
    const got = await this.#send('GET', this.#object(i))
    if (got.status !== 200) return got
    return this.#send(
      'PUT',
      this.#object(i),
      Buffer.concat(got.chunks as Buffer[])
        .toString()
        .replace('"app":"bench"', '"app":"bench2"'),
    )
  }

  async #measure(
    phase: string,
    count: number,
    operation: (i: number) => Promise<Reply>,
    expected: number,
  ): Promise<PhaseResult> {
    const times: number[] = []
    let next = 0
    let bytes = 0
    let failures = 0
    let firstFailure: string | undefined
    const client = async (): Promise<void> => {
      while (next < count) {
        const i = next++
        const started = performance.now()
        const reply = await operation(i)
        times.push(performance.now() - started)
        bytes += reply.bytes
        if (reply.status === expected) continue
        failures++
        firstFailure ??= `${reply.status} ${Buffer.concat(reply.chunks as Buffer[]).toString('utf8', 0, 200)}`
      }
    }
    const started = performance.now()
    await Promise.all(Array.from({ length: this.#options.clients }, client))
    const seconds = (performance.now() - started) / 1000
    times.sort((a, b) => a - b)
    return {
      phase,
      rate: count / seconds,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      megabytes: bytes / 1e6,
      failures,
      firstFailure,
    }
  }

  /** Creates objects while watchers receive them. */
  async #watch(): Promise<PhaseResult[]> {
    const { watchers, watched, kind, url, token } = this.#options
    const path = `${this.#collection}?watch=1&timeoutSeconds=120&resourceVersion=${await this.#resourceVersion()}`
    const sentAt: number[] = []
    const watches = await Promise.all(
      Array.from({ length: watchers }, () => openWatcher({ url, token, path, expected: watched, sentAt })),
    )
    const started = performance.now()
    const creates = await this.#measure(
      'w-create',
      watched,
      (i) => {
        sentAt[i] = performance.now()
        return this.#send('POST', this.#collection, objectOf(kind, firstWatched + i))
      },
      201,
    )
    await Promise.all(watches.map(({ complete }) => complete))
    const seconds = (performance.now() - started) / 1000
    for (const watch of watches) watch.close()
    for (let i = 0; i < watched; i++) await this.#send('DELETE', this.#object(firstWatched + i))
    const delays = watches.flatMap((watch) => watch.delays).sort((a, b) => a - b)
    const watch = {
      phase: 'watch',
      rate: delays.length / seconds,
      p50: percentile(delays, 0.5),
      p99: percentile(delays, 0.99),
      megabytes: watches.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6,
      failures: watchers * watched - delays.length,
    }
    return [creates, watch]
  }

  async #resourceVersion(): Promise<string> {
    const { chunks } = await this.#send('GET', `${this.#collection}?limit=1`)
    const { metadata } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as {
      metadata: { resourceVersion: string }
    }
    return metadata.resourceVersion
  }
}

const { positionals } = parseArgs({ allowPositionals: true })
await new Load(JSON.parse(positionals[0] ?? '') as LoadOptions).run()
