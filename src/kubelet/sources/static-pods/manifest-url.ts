/** The static pods that a web server has: requested at an interval. */

import type { Pod } from '../../../client/kinds.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { timestamp } from '../../../machinery/values/timestamp.ts'
import { readManifests } from './static-pod.ts'

export interface ManifestUrlOptions {
  readonly url: string
  /** Headers of the request (`staticPodURLHeader`). */
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly nodeName: string
  /** The interval of requests (`httpCheckFrequency`), in ms. */
  readonly intervalMs: number
  /** Called with all pods after the first answer and after each change. */
  readonly changed: (pods: readonly Pod[]) => void
  readonly log: (line: string) => void
  readonly now: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
}

const timeoutMs = 10_000
/** So many failures in a row are logged. */
const loggedFailures = 4

export class ManifestUrl {
  readonly #options: ManifestUrlOptions
  readonly #stopping = new AbortController()
  #text: string | undefined
  #failures = 0
  #cancel: (() => void) | undefined

  constructor(options: ManifestUrlOptions) {
    this.#options = options
  }

  /** Resolves after the first answer, or its failure. */
  async start(): Promise<void> {
    await this.#poll()
  }

  stop(): void {
    this.#stopping.abort()
    this.#cancel?.()
  }

  async #poll(): Promise<void> {
    const { log, intervalMs, schedule } = this.#options
    try {
      await this.#request()
      if (this.#failures > 0) log('Successfully read pods from URL')
      this.#failures = 0
    } catch (error) {
      if (!this.#stopping.signal.aborted && ++this.#failures <= loggedFailures)
        log(`Failed to read pods from URL: ${messageOf(error)}`)
    }
    if (!this.#stopping.signal.aborted) this.#cancel = schedule(() => void this.#poll(), intervalMs)
  }

  async #request(): Promise<void> {
    const { url, nodeName, changed, now } = this.#options
    const headers = Object.entries(this.#options.headers).flatMap(([name, values]) =>
      values.map((value): [string, string] => [name, value]),
    )
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(timeoutMs)])
    const response = await fetch(url, { headers, signal })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${url}: ${response.status} ${response.statusText}`)
    if (text === '') {
      if (this.#text !== '') changed([])
      this.#text = ''
      throw new Error(`zero-length data received from ${url}`)
    }
    if (text === this.#text) return
    this.#text = text
    changed(readManifests(text, { kind: 'http', place: url, nodeName }, timestamp(now())))
  }
}
