/**
 * The cacher of a resource: empty at first, loads on the first request, then returns one live view until its watch on
 * the store ends; the next request loads a new one. Reads and watches are served from the view; only old revisions are
 * read from the store.
 */
import { StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../served-resource.ts'
import type { CacheCounts } from './cache-counts.ts'
import { type CacheSource, CacheView } from './cache-view.ts'
import { PositionPoll } from './position-poll.ts'

type State =
  | { readonly phase: 'idle' }
  | { readonly phase: 'loading'; readonly loaded: Promise<CacheView> }
  | { readonly phase: 'live'; readonly view: CacheView }
  /** `watched`: the view that open watches continue with until they are ended. */
  | { readonly phase: 'retired'; readonly refusesCreate: string | undefined; readonly watched: CacheView | undefined }

/** The resource is no longer served, or its definition has changed: a client that retries finds the current one. */
export class RetiredError extends StatusError {
  constructor() {
    super(429, 'TooManyRequests', 'the custom resource definition has just changed: please try again', {
      retryAfterSeconds: 1,
    })
  }
}

/** The cache does not show a revision in time. */
export class StaleCacheError extends StatusError {
  /** The revision that was waited for. */
  readonly wanted: number

  constructor(wanted: number, current: number) {
    super(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    })
    this.wanted = wanted
  }
}

/** Time in ms that a read waits for a revision that is not in memory yet. */
const freshnessTimeoutMs = 3000
/** Time in ms between two checks of the watches of a retired resource. */
const endPollMs = 50

export class Cacher {
  readonly #source: CacheSource
  #state: State = { phase: 'idle' }

  constructor(source: CacheSource) {
    this.#source = source
  }

  get counts(): CacheCounts {
    return this.#source.counts
  }

  get resource(): ServedResource {
    return this.#source.resource
  }

  /** Facts that writes under the present definition know about the values they commit. */
  get hints(): CacheSource['hints'] {
    return this.#source.hints
  }

  /** The current view, if there is one. Do not hold it across an await. */
  get live(): CacheView | undefined {
    return this.#state.phase === 'live' ? this.#state.view : undefined
  }

  /** The view, loaded on the first call. Rejects when the store does; the next call retries. */
  ready(): Promise<CacheView> {
    const state = this.#state
    if (state.phase === 'live') return Promise.resolve(state.view)
    if (state.phase === 'loading') return state.loaded
    if (state.phase === 'retired') return Promise.reject(new RetiredError())
    const loaded = CacheView.load(this.#source).then(
      (view) => {
        if (this.#state.phase === 'retired') {
          view.stop()
          throw new RetiredError()
        }
        this.#state = { phase: 'live', view }
        view.onEnd(() => this.#reset())
        return view
      },
      (error) => {
        this.#reset()
        throw error
      },
    )
    this.#state = { phase: 'loading', loaded }
    return loaded
  }

  /**
   * The view once it shows everything that was committed before the call, as a consistent list requires. Throws what
   * `waitFor` throws, and the store's errors.
   */
  consistent(): Promise<CacheView> {
    return this.#source.store.currentRevision().then((revision) => this.waitFor(revision))
  }

  /** The view once it has at least `revision`, mostly immediately. Throws StaleCacheError after three seconds. */
  waitFor(revision: number): CacheView | Promise<CacheView> {
    const { live } = this
    return live && revision <= live.revision ? live : this.#wait(revision)
  }

  async #wait(revision: number): Promise<CacheView> {
    const started = performance.now()
    const deadline = started + freshnessTimeoutMs
    const poll = new PositionPoll()
    for (;;) {
      const view = this.live ?? (await this.ready())
      if (revision <= view.revision) {
        this.counts.waits.observe((performance.now() - started) / 1000)
        return view
      }
      if (performance.now() >= deadline) throw new StaleCacheError(revision, view.revision)
      await poll.pause()
    }
  }

  #reset(): void {
    if (this.#state.phase !== 'retired') this.#state = { phase: 'idle' }
  }

  stop(): void {
    this.live?.stop()
  }

  /** The reason why creates are denied; undefined if they are allowed. */
  get refusesCreate(): string | undefined {
    return this.#state.phase === 'retired' ? this.#state.refusesCreate : undefined
  }

  /** Rejects reads from now on, and creates if a reason is given. Watches continue until they are ended. */
  retire(refusesCreate?: string): void {
    this.#state = { phase: 'retired', refusesCreate, watched: this.live }
  }

  /**
   * Ends the watches of a retired resource once they have received everything up to `revision`, at the latest after
   * three seconds.
   */
  async endWatches(revision = 0): Promise<void> {
    const watched = this.#state.phase === 'retired' ? this.#state.watched : undefined
    const deadline = performance.now() + freshnessTimeoutMs
    while (watched && watched.revision < revision && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, endPollMs).unref())
    watched?.end(new RetiredError())
  }
}
