/** Watches: changes of a collection (or of one object of it), streamed as one JSON document a line. */
import { StatusError, statusOf } from '../../machinery/status-error.ts'
import type { Request, Response, Sink } from '../http/exchange.ts'
import { representationFor } from '../negotiation/choose.ts'
import type { Representation } from '../negotiation/representation.ts'
import { type Selection, selection } from '../registry/cache/selection.ts'
import { EncodedBatch, type Membership, type Watcher } from '../registry/cache/watch-hub.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { type ListOptions, listOptions } from '../request/list-options.ts'
import { parseResourceVersion } from '../request/parameters.ts'
import type { Endpoint, Services, Target } from './endpoint.ts'

/** Watches without a timeout end after 30 to 60 minutes, so that clients spread over servers. */
const defaultTimeoutSeconds = (): number => 1800 * (1 + Math.random())

/** Longer timers would fire at once. */
const longestTimeoutMs = 2 ** 31 - 1

/** A watcher that lets this much pile up is cut off: it has to list again anyway. */
const maxBacklogBytes = 16 * 1024 * 1024

/** Bookmarks come about once a minute, and shortly before a watch ends. */
const bookmarkIntervalMs = 60_000
const lastBookmarkMs = 2_000

export const watch: Endpoint = async (target) => {
  const { request, resource, services } = target
  const representation = representationFor(request, resource, 'watch')
  const options = listOptions(request.query, resource, true)
  const version = parseResourceVersion(options.resourceVersion)
  const cacher = services.registry.cacher(resource)
  await cacher.ready()
  const chosen = selected(request, resource, options)
  return {
    status: 200,
    headers: { 'content-type': representation.contentType },
    body: (sink) => new WatchStream(target, representation, options, chosen, version, sink).start(),
  } satisfies Response
}

/** `/api/v1/watch/…/NAME` watches the one object. */
function selected(request: Request, resource: ServedResource, { labels, fields }: ListOptions): Selection {
  const { namespace, name, path } = request.info
  const range = resource.range(namespace)
  if (!name || !path.includes('/watch/')) return selection(range.start, labels, fields)
  const key = resource.key(namespace, name)
  const within = selection(key, labels, fields)
  return { key: within.key, everything: false, matches: (object) => object.key === key && within.matches(object) }
}

class WatchStream implements Watcher {
  readonly #services: Services
  readonly #resource: ServedResource
  readonly #namespace: string
  readonly #representation: Representation
  readonly #options: ListOptions
  readonly #selection: Selection
  readonly #sink: Sink
  #version: number
  #sentAny = false
  #ended = false
  /** How much may pile up: the initial events do not count. */
  #allowance = maxBacklogBytes
  #bookmarked: number
  #membership: Membership | undefined
  readonly #cleanUp: (() => void)[] = []

  constructor({ services, resource, request }: Target, representation: Representation, options: ListOptions, chosen: Selection, version: number, sink: Sink) {
    this.#services = services
    this.#resource = resource
    this.#namespace = request.info.namespace
    this.#representation = representation
    this.#options = options
    this.#selection = chosen
    this.#version = version
    this.#sink = sink
    this.#bookmarked = version
  }

  start(): void {
    this.#sink.onClose(() => this.#stop())
    this.#cleanUp.push(this.#services.waitGroup.onStop(() => this.#finish()))
    this.#begin().catch((error) => this.end(error))
  }

  async #begin(): Promise<void> {
    const { registry } = this.#services
    const cacher = registry.cacher(this.#resource)
    const view = registry.view(this.#resource)
    const { sendInitialEvents, allowWatchBookmarks, timeoutSeconds } = this.#options
    if (sendInitialEvents || (sendInitialEvents === undefined && this.#version === 0)) {
      if (this.#version) await cacher.waitFor(this.#version)
      this.#version = cacher.revision
      const objects = cacher.objects
        .slice(this.#resource.range(this.#namespace))
        .map(view)
        .filter((object) => this.#selection.matches(object))
      if (objects.length)
        this.#write(
          new EncodedBatch(
            objects.map((object) => ({ type: 'ADDED', object })),
            this.#representation,
          ),
        )
      this.#allowance = this.#sink.backlog + maxBacklogBytes
      this.#bookmarked = this.#version
      if (sendInitialEvents && allowWatchBookmarks) this.#bookmark({ 'k8s.io/initial-events-end': 'true' })
    } else if (this.#version === 0) this.#version = cacher.revision
    const membership = await registry.hub(this.#resource).join(this.#resource, this.#selection, this.#representation, view, this.#version, this)
    if (this.#ended) return membership.leave()
    this.#membership = membership
    this.#cleanUp.push(() => membership.leave())
    this.#limitTime(Math.min((timeoutSeconds || defaultTimeoutSeconds()) * 1000, longestTimeoutMs), allowWatchBookmarks)
  }

  #limitTime(ms: number, bookmarks: boolean): void {
    const end = setTimeout(() => this.#finish(), ms)
    this.#cleanUp.push(() => clearTimeout(end))
    if (!bookmarks) return
    const regular = setInterval(() => this.#bookmarkIfNew(), bookmarkIntervalMs)
    this.#cleanUp.push(() => clearInterval(regular))
    if (ms <= lastBookmarkMs) return
    const last = setTimeout(() => this.#bookmarkIfNew(), ms - lastBookmarkMs)
    this.#cleanUp.push(() => clearTimeout(last))
  }

  deliver(batch: EncodedBatch): void {
    // A client may ask for what comes after a revision that is yet to come.
    const news = batch.after(this.#version)
    if (news) this.#write(news)
  }

  #write(batch: EncodedBatch): void {
    if (this.#ended) return
    if (this.#sink.backlog > this.#allowance) {
      this.#stop()
      this.#sink.destroy()
      return
    }
    this.#sink.write(this.#sentAny ? batch.bytes : batch.firstBytes)
    this.#sentAny = true
  }

  /** An error is the last event of a watch. */
  end(error: unknown): void {
    if (this.#ended) return
    const { status } = error instanceof StatusError ? error : statusOf(error)
    this.#sink.write(Buffer.from(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`))
    this.#finish()
  }

  #bookmarkIfNew(): void {
    const { revision } = this.#services.registry.cacher(this.#resource)
    if (revision > this.#bookmarked) this.#bookmark()
  }

  /** Says that everything up to now has been delivered, and sees to it that it has. */
  #bookmark(annotations?: Readonly<Record<string, string>>): void {
    this.#membership?.flush()
    this.#bookmarked = this.#services.registry.cacher(this.#resource).revision
    this.#sink.write(this.#representation.bookmark(this.#bookmarked, annotations))
    this.#sentAny = true
  }

  #finish(): void {
    this.#membership?.flush()
    this.#stop()
    this.#sink.end()
  }

  #stop(): void {
    this.#ended = true
    for (const cleanUp of this.#cleanUp.splice(0)) cleanUp()
  }
}
