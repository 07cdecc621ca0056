/**
 * Copies the objects of a kind into a sink: a list (streamed if the server supports it), then watches that continue
 * where the previous one ended, and a new list after a 410.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { ConnectionLost, RequestCanceled } from '../connection/connection-lost.ts'
import type { FailureLog } from '../controller/failure-log.ts'
import type { Resource } from '../resource.ts'
import { endsInitialEvents, type ListOptions, type RestClient, type WatchEvent } from '../rest/rest-client.ts'

export interface ReflectorSink<T> {
  /** Called for each object on arrival, so that a large list is never held untransformed. */
  transform(object: T): T
  /** Replaces all objects. */
  replace(items: readonly T[]): void
  /** The objects so far are the state at this version. */
  setVersion(resourceVersion: string): void
  set(object: T): void
  remove(object: T): void
}

export interface ReflectorOptions<T extends KubeObject> extends ListOptions {
  readonly client: RestClient
  readonly resource: Resource<T>
  readonly sink: ReflectorSink<T>
  /** Logs failures. */
  readonly failures: FailureLog
  /** Default: the real clock. */
  readonly time?: ReflectorTime
}

/** A clock in ms. */
export interface ReflectorTime {
  now(): number
  /** Resolves after `ms`, or when `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
}

const realTime: ReflectorTime = {
  now: () => performance.now(),
  pause: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
}

const minBackOffMs = 200
const maxBackOffMs = 30_000
/** Timeout of a watch: random between this and twice as long, so that watches do not end at the same time. */
const watchSeconds = 300
/** The client cancels a watch that the server did not end this long after its timeout. */
const graceMs = 30_000
/** After a shorter watch without events, the next one starts after a back-off. */
const shortWatchMs = 1000

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #time: ReflectorTime
  /** The version of the state; empty before the first list, and after a 410. */
  #version = ''
  #backOffMs = minBackOffMs
  #canStreamLists = true

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#time = options.time ?? realTime
  }

  /** Runs until `signal` is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const began = this.#time.now()
      const isShort = (): boolean => this.#time.now() - began <= shortWatchMs
      const version = this.#version
      try {
        await this.#listAndWatch(signal)
        if (!isShort() || this.#version !== version) continue
      } catch (error) {
        if (signal.aborted) return
        // A longer watch may have had no events: the back-off need not grow.
        if (error instanceof ConnectionLost && error.reached && !isShort()) this.#backOffMs = minBackOffMs
        this.#handleError(error)
      }
      await this.#time.pause(this.#backOffMs * (1 + Math.random()), signal)
      this.#backOffMs = Math.min(this.#backOffMs * 2, maxBackOffMs)
    }
  }

  /** Runs one watch, after a list if there is no state yet. */
  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (!this.#version && !this.#canStreamLists) await this.#list()
    const seconds = Math.round(watchSeconds * (1 + Math.random()))
    // If the server does not end the watch, the connection is dead.
    const watchAbort = new AbortController()
    const abort = (): void => watchAbort.abort()
    const timeout = setTimeout(abort, seconds * 1000 + graceMs).unref()
    signal.addEventListener('abort', abort, { once: true })
    try {
      await this.#watch(seconds, watchAbort.signal)
    } catch (error) {
      if (!(error instanceof RequestCanceled)) throw error
    } finally {
      clearTimeout(timeout)
      signal.removeEventListener('abort', abort)
    }
  }

  async #watch(timeoutSeconds: number, signal: AbortSignal): Promise<void> {
    const { client, resource, sink, failures: _, time: __, ...selection } = this.#options
    // Without a version, the watch starts with all objects, which replace the state when they are complete.
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
        if (!collectInitialEvent(initial, event, sink)) continue
        sink.replace([...initial.values()])
        initial = undefined
      } else if (event.type === 'DELETED') sink.remove(event.object)
      else if (event.type !== 'BOOKMARK') sink.set(sink.transform(event.object))
      this.#version = event.object.metadata.resourceVersion ?? this.#version
      sink.setVersion(this.#version)
      this.#backOffMs = minBackOffMs
    }
  }

  async #list(): Promise<void> {
    const { client, resource, sink, failures: _, time: __, ...selection } = this.#options
    const { items, resourceVersion } = await client.list(resource, selection)
    sink.replace(items.map((item) => sink.transform(item)))
    this.#version = resourceVersion
    sink.setVersion(resourceVersion)
  }

  #handleError(error: unknown): void {
    if (error instanceof StatusError) {
      // The version is compacted: list again.
      if (error.code === 410) {
        this.#version = ''
        return
      }
      // Servers before 1.32 reject streamed lists by default.
      if (!this.#version && this.#canStreamLists && (error.code === 400 || error.code === 422)) {
        this.#canStreamLists = false
        return
      }
    }
    // A restarting server interrupts every watch once; log only if it persists.
    if (error instanceof ConnectionLost && this.#backOffMs === minBackOffMs) return
    const { failures, resource } = this.#options
    failures.record(resource.plural, error, Number.POSITIVE_INFINITY, `cannot watch ${resource.plural}, retrying`)
  }
}

/** Adds an event of a streamed list; returns true for the bookmark that ends it. */
function collectInitialEvent<T extends KubeObject>(
  objects: Map<string, T>,
  { type, object }: WatchEvent<T>,
  sink: ReflectorSink<T>,
): boolean {
  if (type === 'BOOKMARK') return endsInitialEvents(object)
  const { namespace = '', name = '' } = object.metadata
  if (type === 'DELETED') objects.delete(`${namespace}/${name}`)
  else objects.set(`${namespace}/${name}`, sink.transform(object))
  return false
}
