/**
 * A watch of all keys after a revision. Opens again where it was after a connection was lost. Every revision of etcd
 * changes a key, so that the newest event is also the position of the watch.
 */
import { type ChangeEvent, CompactedError } from '../../store.ts'
import type { Channel } from '../client/channel.ts'
import type { Connection, RpcStream } from '../client/connection.ts'
import {
  decodeWatchResponse,
  encodeCancellation,
  encodeCreation,
  type WatchEvent,
  type WatchResponse,
  watchPath,
} from '../messages/watch.ts'

export interface ResumingWatchOptions {
  readonly channel: Channel
  /** Events after this revision are wanted. */
  readonly after: number
  readonly wantsPrevious: boolean
  /** Whole revisions, in order. */
  events(events: readonly ChangeEvent[]): void
  /** The history after the watch's position has been compacted. The watch has ended. */
  compacted(error: CompactedError): void
}

const everything = { key: '\0', rangeEnd: '\0' }
const connectMs = 10_000
/** Pause after a stream that ended by itself, in ms. Grows while streams fail. */
const firstPauseMs = 20
const maxPauseMs = 1_000

export class ResumingWatch {
  readonly #options: ResumingWatchOptions
  #stream: RpcStream | undefined
  #isPaused = false
  #isStopped = false
  /** Ends the wait for the end of the current stream. */
  #ended: () => void = () => {}
  #failures = 0
  /** The watch on the stream whose events count; undefined before it is created. */
  #watchId: number | undefined
  /** The revision at which the newest watch on the stream starts. */
  #start = 0
  /** All events up to this revision have been delivered. */
  position: number

  constructor(options: ResumingWatchOptions) {
    this.#options = options
    this.position = options.after
    void this.#run()
  }

  pause(): void {
    this.#isPaused = true
    this.#stream?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#stream?.resume()
  }

  stop(): void {
    this.#isStopped = true
    this.#stream?.close()
    this.#ended()
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const connection = await this.#options.channel.connection(connectMs)
        if (!this.#isStopped) await this.#follow(connection)
      } catch {
        // The channel has recorded why no endpoint can be used.
      }
      if (this.#isStopped) return
      const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** this.#failures++)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  /** Watches on one connection; resolves when the stream has ended. */
  async #follow(connection: Connection): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ended = resolve
    const stream = connection.stream(watchPath, {
      message: (bytes) => this.#receive(stream, decodeWatchResponse(bytes), resolve),
      end: () => resolve(),
    })
    this.#stream = stream
    if (this.#isPaused) stream.pause()
    this.#watchId = undefined
    this.#request(stream, this.position + 1)
    await promise
    this.#stream = undefined
    stream.close()
  }

  #request(stream: RpcStream, startRevision: number): void {
    this.#start = startRevision
    const { wantsPrevious } = this.#options
    stream.send(encodeCreation({ ...everything, startRevision, wantsPrevious }))
  }

  #receive(stream: RpcStream, response: WatchResponse, end: () => void): void {
    if (response.created && !response.canceled) {
      this.#created(stream, response)
      return
    }
    if (response.canceled) {
      if (response.watchId !== this.#watchId && !response.created) return
      if (response.compactRevision > 0) this.#endCompacted(response.compactRevision)
      end()
      return
    }
    if (response.watchId === this.#watchId && response.events.length > 0) this.#deliver(response)
  }

  #endCompacted(revision: number): void {
    this.stop()
    this.#options.compacted(new CompactedError(this.position, revision))
  }

  /**
   * A watch that begins in the past begins with the revision at its position, which has been delivered: etcd then
   * reports the compaction of the next one, too, which may have been a deletion that is missing now.
   */
  #created(stream: RpcStream, { watchId, current }: WatchResponse): void {
    const overlapping = Math.max(1, this.position)
    if (this.#start > overlapping && current > this.position) {
      stream.send(encodeCancellation(watchId))
      this.#request(stream, overlapping)
      return
    }
    this.#watchId = watchId
  }

  /** etcd sends all events of a revision in one response. */
  #deliver({ events }: WatchResponse): void {
    this.#failures = 0
    let changes: ChangeEvent[] = []
    let compacted: number | undefined
    for (const event of events) {
      const { change } = event
      if (change.revision <= this.position) continue
      if (this.#options.wantsPrevious && lacksPrevious(event)) {
        compacted = change.revision
        changes = changes.filter(({ revision }) => revision < change.revision)
        break
      }
      changes.push(change)
    }
    if (changes.length > 0) {
      this.position = changes.at(-1)!.revision
      this.#options.events(changes)
    }
    if (compacted !== undefined && !this.#isStopped) this.#endCompacted(compacted)
  }
}

/**
 * True if an event must have a previous value and does not: etcd reads them when it sends an event, and sends none once
 * the revision before has been compacted.
 */
const lacksPrevious = ({ change, version }: WatchEvent): boolean =>
  change.previous === undefined && (change.type === 'delete' || version !== 1)
