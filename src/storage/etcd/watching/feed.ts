/** One watch of etcd that serves all watches of this process. It receives every change, so its position is exact. */
import type { ChangeEvent, CompactedError, KeyRange, Observer, Watch } from '../../store.ts'
import { type History, Watchers } from '../../watchers.ts'
import type { Channel } from '../client/channel.ts'
import { LateWatch } from './late-watch.ts'
import { RecentEvents } from './recent-events.ts'
import { ResumingWatch } from './resuming-watch.ts'

export interface FeedOptions {
  readonly channel: Channel
  readonly after: number
  readonly wantsPrevious: boolean
  /** Returns the buffer of this process for a value that it has written, or `value`. */
  ownBuffer(key: string, value: Buffer): Buffer
  compacted(error: CompactedError): void
}

export class Feed implements History {
  readonly #options: FeedOptions
  readonly #watchers = new Watchers(this)
  readonly #late = new Set<LateWatch>()
  readonly #recent: RecentEvents
  #watch: ResumingWatch
  #waiting: { readonly revision: number; readonly resolve: () => void }[] = []
  #ended: Error | undefined
  /** All events up to this revision have been delivered. */
  revision: number

  constructor(options: FeedOptions) {
    this.#options = options
    this.revision = options.after
    this.#recent = new RecentEvents(options.after)
    this.#watch = this.#follow(options.after)
  }

  /** The feed has the events after this revision. */
  get compactedRevision(): number {
    return this.#recent.start
  }

  /** Starts a watch as described at `Store.watch`. */
  watch(range: KeyRange, after: number, observer: Observer): Watch {
    if (this.#ended || after >= this.#recent.start) return this.#watchers.add(range, after, observer)
    const { channel, wantsPrevious } = this.#options
    const late = new LateWatch({
      channel,
      wantsPrevious,
      range,
      after,
      observer,
      join: (position) => (position >= this.#recent.start ? this.#watchers.add(range, position, observer) : undefined),
      ended: () => this.#late.delete(late),
    })
    this.#late.add(late)
    return late
  }

  *changesAfter(after: number) {
    for (const event of this.#recent.after(after)) yield { ...event, event: () => event }
  }

  /** Resolves when all events up to a revision have been delivered, or the feed has ended. */
  reached(revision: number): Promise<void> | undefined {
    if (this.revision >= revision || this.#ended) return undefined
    return new Promise((resolve) => this.#waiting.push({ revision, resolve }))
  }

  /** Ends all watches that miss events, and continues after a revision. */
  restart(after: number, error: CompactedError): void {
    this.#watch.stop()
    this.#watchers.endLive(error)
    this.revision = after
    this.#recent.reset(after)
    this.#watch = this.#follow(after)
    this.#resolveWaiting(Infinity)
  }

  /** Ends the feed and all watches. */
  end(error: Error): void {
    this.#ended = error
    this.#watch.stop()
    this.#resolveWaiting(Infinity)
    this.#watchers.endAll(error)
    for (const late of this.#late) late.end(error)
  }

  #follow(after: number): ResumingWatch {
    const { channel, wantsPrevious } = this.#options
    return new ResumingWatch({
      channel,
      after,
      wantsPrevious,
      events: (events) => this.#publish(events),
      compacted: (error) => {
        this.#options.compacted(error)
        this.restart(error.compactedRevision, error)
      },
    })
  }

  #publish(received: readonly ChangeEvent[]): void {
    const events = received.map((event) => {
      if (!event.value) return event
      const value = this.#options.ownBuffer(event.key, event.value)
      return value === event.value ? event : { ...event, value }
    })
    this.revision = events.at(-1)!.revision
    this.#recent.add(events)
    this.#watchers.publish(events, this.revision)
    this.#resolveWaiting(this.revision)
  }

  #resolveWaiting(through: number): void {
    if (this.#waiting.length === 0) return
    const done = this.#waiting.filter(({ revision }) => revision <= through)
    if (done.length === 0) return
    this.#waiting = this.#waiting.filter(({ revision }) => revision > through)
    for (const { resolve } of done) resolve()
  }
}
