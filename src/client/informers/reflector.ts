/**
 * Reflects a kind's objects into a sink: a list (streamed where the server can do that), then watches that go on where
 * the one before ended; and a list once more when the server has forgotten the past.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { ConnectionLost, RequestCanceled } from '../connection/connection-lost.ts'
import type { FailureLog } from '../controller/failure-log.ts'
import type { Resource } from '../resource.ts'
import { endsInitialEvents, type ListOptions, type RestClient, type WatchEvent } from '../rest/rest-client.ts'

export interface ReflectorSink<T> {
  /** What is to be kept of an object: asked as soon as it comes, so that a list of many is never held as it came. */
  keep(object: T): T
  /** All that is there now. */
  replace(items: readonly T[]): void
  /** What came so far is the state as of this version. */
  reached(resourceVersion: string): void
  set(object: T): void
  remove(object: T): void
}

export interface ReflectorOptions<T extends KubeObject> extends ListOptions {
  readonly client: RestClient
  readonly resource: Resource<T>
  readonly sink: ReflectorSink<T>
  /** Told of what goes wrong. */
  readonly failures: FailureLog
  /** The real one unless said. */
  readonly time?: ReflectorTime
}

/** All in ms. */
export interface ReflectorTime {
  now(): number
  /** Resolves after some time, or when `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

const realTime: ReflectorTime = {
  now: () => performance.now(),
  pause: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}

const shortestPauseMs = 200
const longestPauseMs = 30_000
/** How long a server keeps a watch: between this and twice as long, so that not all end together. */
const watchSeconds = 300
/** How much later a watch is given up that its server should have ended. */
const graceMs = 30_000
/** A watch that ends sooner than this, and has told nothing, is no reason to begin the next one at once. */
const shortWatchMs = 1000

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #time: ReflectorTime
  /** Up to where everything is known; empty before the first list, and when the past is forgotten. */
  #version = ''
  #pauseMs = shortestPauseMs
  #streams = true

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#time = options.time ?? realTime
  }

  /** Until `signal` is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const began = this.#time.now()
      const isShort = (): boolean => this.#time.now() - began <= shortWatchMs
      const version = this.#version
      try {
        await this.#follow(signal)
        if (!isShort() || this.#version !== version) continue
      } catch (error) {
        if (signal.aborted) return
        // One that was served for a while and broke off may have had nothing to tell: no reason to wait longer each
        // time.
        if (error instanceof ConnectionLost && error.reached && !isShort()) this.#pauseMs = shortestPauseMs
        this.#fail(error)
      }
      await this.#time.pause(this.#pauseMs * (1 + Math.random()), signal)
      this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
    }
  }

  /** One watch, after a list if there has been none. */
  async #follow(signal: AbortSignal): Promise<void> {
    if (!this.#version && !this.#streams) await this.#list()
    const seconds = Math.round(watchSeconds * (1 + Math.random()))
    // A server that does not end it has gone, and nobody has told us.
    const giveUp = new AbortController()
    const end = (): void => giveUp.abort()
    const late = setTimeout(end, seconds * 1000 + graceMs).unref()
    signal.addEventListener('abort', end, { once: true })
    try {
      await this.#watch(seconds, giveUp.signal)
    } catch (error) {
      if (!(error instanceof RequestCanceled)) throw error
    } finally {
      clearTimeout(late)
      signal.removeEventListener('abort', end)
    }
  }

  async #watch(timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const { client, resource, sink, failures: _, time: __, ...selection } = this.#options
    // Without a version it begins with all that is there, which replaces what is known when it is complete.
    let initial: Map<string, T> | undefined = this.#version ? undefined : new Map()
    const sendInitialEvents = initial !== undefined
    for await (const event of client.watch(resource, {
      ...selection,
      resourceVersion: this.#version,
      sendInitialEvents,
      timeoutSeconds,
      signal,
    })) {
      if (initial) {
        if (!collected(initial, event, sink)) continue
        sink.replace([...initial.values()])
        initial = undefined
      } else if (event.type === 'DELETED') sink.remove(event.object)
      else if (event.type !== 'BOOKMARK') sink.set(sink.keep(event.object))
      this.#version = event.object.metadata.resourceVersion ?? this.#version
      sink.reached(this.#version)
      this.#pauseMs = shortestPauseMs
    }
  }

  async #list(): Promise<void> {
    const { client, resource, sink, failures: _, time: __, ...selection } = this.#options
    const { items, resourceVersion } = await client.list(resource, selection)
    sink.replace(items.map((item) => sink.keep(item)))
    this.#version = resourceVersion
    sink.reached(resourceVersion)
  }

  #fail(error: unknown): void {
    if (error instanceof StatusError) {
      // The past is forgotten: begin anew.
      if (error.code === 410) {
        this.#version = ''
        return
      }
      // Servers before 1.32 do not stream lists unless they are told to.
      if (!this.#version && this.#streams && (error.code === 400 || error.code === 422)) {
        this.#streams = false
        return
      }
    }
    // A server that is started anew is missed once by everybody: that is told when it lasts.
    if (error instanceof ConnectionLost && this.#pauseMs === shortestPauseMs) return
    const { failures, resource } = this.#options
    failures.failed(
      resource.plural,
      error,
      Number.POSITIVE_INFINITY,
      `${resource.plural} are not followed just now, trying again`,
    )
  }
}

/** Takes an event of a streamed list; true for the one that ends it. */
function collected<T extends KubeObject>(
  objects: Map<string, T>,
  { type, object }: WatchEvent<T>,
  sink: ReflectorSink<T>,
): boolean {
  if (type === 'BOOKMARK') return endsInitialEvents(object)
  const { namespace = '', name = '' } = object.metadata
  if (type === 'DELETED') objects.delete(`${namespace}/${name}`)
  else objects.set(`${namespace}/${name}`, sink.keep(object))
  return false
}
