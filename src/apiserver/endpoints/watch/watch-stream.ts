/**
 * One watch of one client: first it sends the current objects, or the changes since a revision, as fast as the client
 * reads them; then it joins the live watches, which are notified of each change.
 */
import { timerMs } from '../../../lib/flow/timer-ms.ts'
import { StatusError, statusOf } from '../../../machinery/status-error.ts'
import type { KeyRange } from '../../../storage/store.ts'
import type { Sink } from '../../http/exchange.ts'
import type { CacheView } from '../../registry/cache/cache-view.ts'
import { type Cacher, RetiredError } from '../../registry/cache/cacher.ts'
import { changesAfter, portionSize } from '../../registry/cache/history/past-changes.ts'
import { EncodedBatch, encodeChanges, type WatchEvent, type WatchForm } from '../../registry/cache/watch/watch-event.ts'
import type { Membership, Watcher } from '../../registry/cache/watch/watch-hub.ts'
import { objectsOf } from '../../registry/conversion/converted-feed.ts'
import type { ListOptions } from '../../request-options/list-options.ts'
import type { Services } from '../endpoint.ts'

/** Watches without a timeout end after 30 to 60 minutes, so that clients spread over servers. */
const defaultTimeoutSeconds = 1800

/** A live watch with a larger backlog is cut off: its client has to list again anyway. */
const maxBacklogBytes = 16 * 1024 * 1024

/** The time that a client has to read the rest of a watch that has ended. */
const lastReadMs = 10_000

/** Bookmarks are sent about once a minute, and shortly before a watch ends. */
const bookmarkIntervalMs = 60_000
const lastBookmarkMs = 2_000

/** Objects that are checked before other requests get their turn, whether they are selected or not. */
const objectsPerTurn = 2000

export interface WatchStreamOptions {
  readonly services: Services
  readonly form: WatchForm
  /** The range of keys that may be selected. */
  readonly range: KeyRange
  readonly options: ListOptions
  /** The revision to begin after; 0: the newest. */
  readonly version: number
  readonly sink: Sink
  /** Called once, when the initial state has been sent, or the watch has ended. */
  readonly initialised?: () => void
}

export class WatchStream implements Watcher {
  readonly #services: Services
  readonly #form: WatchForm
  readonly #range: KeyRange
  readonly #options: ListOptions
  readonly #cacher: Cacher
  readonly #sink: Sink
  readonly #initialised: () => void
  /** All changes up to this revision have been sent. Obsolete after joining: see the membership. */
  #version: number
  #bookmarked: number
  #hasSent = false
  #sentEvents = 0
  #ended = false
  #membership: Membership | undefined
  readonly #cleanUp: (() => void)[] = []

  constructor({ services, form, range, options, version, sink, initialised }: WatchStreamOptions) {
    this.#services = services
    this.#form = form
    this.#range = range
    this.#options = options
    this.#cacher = services.registry.cacher(form.resource)
    this.#version = version
    this.#bookmarked = version
    this.#sink = sink
    this.#initialised = initialised ?? (() => {})
  }

  /** The number of events sent so far, without bookmarks and the error at the end. */
  get sentEvents(): number {
    return this.#sentEvents
  }

  start(): void {
    this.#sink.onClose(() => this.#stop())
    this.#cleanUp.push(this.#services.waitGroup.onStop(() => this.#finish()))
    this.#limitTime()
    this.#begin()
      .catch((error) => this.end(error))
      .finally(this.#initialised)
  }

  async #begin(): Promise<void> {
    const { sendInitialEvents } = this.#options
    if (sendInitialEvents || (sendInitialEvents === undefined && this.#version === 0)) await this.#sendState()
    else if (this.#version === 0) this.#version = (await this.#cacher.ready()).revision
    await this.#follow()
  }

  /** Sends the current objects: those of a consistent list if the client requests initial events without a version. */
  async #sendState(): Promise<void> {
    const started = performance.now()
    const { sendInitialEvents, allowWatchBookmarks, resourceVersion } = this.#options
    const isConsistent = sendInitialEvents && resourceVersion === ''
    const view = await (isConsistent ? this.#cacher.consistent() : this.#cacher.waitFor(this.#version))
    this.#version = view.revision
    await this.#sendObjects(view)
    if (this.#ended) return
    this.#bookmarked = this.#version
    if (sendInitialEvents && allowWatchBookmarks) this.#bookmark({ 'k8s.io/initial-events-end': 'true' })
    if (!sendInitialEvents) return
    const { resource } = this.#form
    const isWhole = this.#range.start === resource.range('').start
    resource.watchTraffic.listedIn(isWhole ? 'cluster' : 'namespace', (performance.now() - started) / 1000)
  }

  /** The array of objects is shared by all watches that begin now; events are created one portion at a time. */
  async #sendObjects({ objects }: CacheView): Promise<void> {
    const { resource, view, selection, representation } = this.#form
    let events: WatchEvent[] = []
    let bytes = 0
    let visited = 0
    const { registry } = this.#services
    const all = objects.slice(this.#range)
    for (let i = 0; i < all.length; i++) {
      if (resource.conversion && i % objectsPerTurn === 0)
        await registry.view(resource).prepare(() => all.slice(i, i + objectsPerTurn))
      const object = view(all[i]!)
      if (selection.matches(object)) {
        events.push({ type: 'ADDED', object })
        bytes += object.size
      }
      if (bytes < portionSize.bytes && ++visited < objectsPerTurn) continue
      if (events.length > 0) this.#write(new EncodedBatch(events, representation))
      await this.#waitForClient()
      if (this.#ended) return
      events = []
      bytes = 0
      visited = 0
    }
    if (events.length > 0) this.#write(new EncodedBatch(events, representation))
  }

  /** Sends changes, until so few remain that the watch can join the live watches. */
  async #follow(): Promise<void> {
    const { registry } = this.#services
    const { resource } = this.#form
    const hub = registry.hub(resource)
    const converted = registry.view(resource)
    for (;;) {
      const view = await this.#cacher.ready()
      if (this.#ended) return
      const membership = hub.join(converted.feed(view, this.#version), this.#form, this.#version, this)
      if (membership) {
        this.#membership = membership
        if (this.#ended) membership.leave()
        else this.#cleanUp.push(() => membership.leave())
        return
      }
      const { changes, through } = await changesAfter(view, registry.storeOf(resource), this.#range, this.#version)
      if (resource.conversion) await converted.prepare(() => objectsOf(changes))
      this.#version = through
      const batch = encodeChanges(changes, this.#form)
      if (batch) this.#write(batch)
      await this.#waitForClient()
    }
  }

  /** Waits until the client has read the events written so far, and yields to other requests. */
  async #waitForClient(): Promise<void> {
    await this.#sink.ready()
    await new Promise(setImmediate)
  }

  #limitTime(): void {
    const { timeoutSeconds, allowWatchBookmarks } = this.#options
    const { minRequestTimeoutSeconds = defaultTimeoutSeconds } = this.#services
    const seconds = timeoutSeconds || minRequestTimeoutSeconds * (1 + Math.random()) || Number.POSITIVE_INFINITY
    const ms = timerMs(seconds * 1000)
    const end = setTimeout(() => this.#finish(), ms)
    this.#cleanUp.push(() => clearTimeout(end))
    if (!allowWatchBookmarks) return
    const regular = setInterval(() => this.#bookmarkIfNew(), bookmarkIntervalMs)
    this.#cleanUp.push(() => clearInterval(regular))
    if (ms <= lastBookmarkMs) return
    const last = setTimeout(() => this.#bookmarkIfNew(), ms - lastBookmarkMs)
    this.#cleanUp.push(() => clearTimeout(last))
  }

  deliver(batch: EncodedBatch): void {
    if (this.#ended) return
    // A client may request changes after a future revision.
    const newer = batch.after(this.#version)
    if (!newer) return
    if (this.#sink.backlog <= maxBacklogBytes) this.#write(newer)
    else {
      this.#stop()
      this.#sink.destroy()
    }
  }

  #write(batch: EncodedBatch): void {
    if (this.#ended) return
    this.#sink.write(this.#hasSent ? batch.bytes : batch.firstBytes)
    this.#form.resource.watchTraffic.sent(batch.sizes)
    this.#sentEvents += batch.sizes.length
    this.#hasSent = true
  }

  /** An error is the last event of a watch. A change of its resource's definition is not reported as an error. */
  end(error: unknown): void {
    if (this.#ended) return
    if (!(error instanceof RetiredError)) {
      const { status } = error instanceof StatusError ? error : statusOf(error)
      this.#sink.write(Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`))
    }
    this.#finish()
  }

  /** Sends a bookmark if there is a new revision. Not while the watch is catching up. */
  #bookmarkIfNew(): void {
    const revision = this.#cacher.live && this.#membership?.revision
    if (!this.#membership || !revision || revision <= this.#bookmarked) return
    this.#membership.flush()
    this.#bookmarked = revision
    this.#bookmark()
  }

  /** Announces that everything up to `#bookmarked` has been sent. */
  #bookmark(annotations?: Readonly<Record<string, string>>): void {
    if (this.#ended) return
    this.#sink.write(this.#form.representation.bookmark(this.#bookmarked, annotations))
    this.#hasSent = true
  }

  #finish(): void {
    if (this.#ended) return
    this.#membership?.flush()
    this.#stop()
    this.#sink.end()
    const closeTimer = setTimeout(() => this.#sink.destroy(), lastReadMs).unref()
    this.#sink.onClose(() => clearTimeout(closeTimer))
  }

  #stop(): void {
    this.#ended = true
    for (const cleanUp of this.#cleanUp.splice(0)) cleanUp()
  }
}
