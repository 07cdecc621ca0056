/** The latest versions of all objects, as a watch of the stores delivers them. */
import { messageOf } from '../../../lib/message-of.ts'
import type { ChangeEvent, Store, Watch } from '../../../storage/store.ts'

/** A change of the store, and its time in ms since 1970. */
export interface RecordedChange extends ChangeEvent {
  readonly number: number
  readonly time: number
}

export interface VersionLimits {
  readonly versions: number
  /** Of all values. */
  readonly bytes: number
}

export const versionLimits: VersionLimits = { versions: 20_000, bytes: 64 * 1024 * 1024 }

const everything = { start: '/registry/', end: '/registry0' }

export class VersionRecorder {
  readonly #stores: readonly Store[]
  readonly #now: () => number
  readonly #limits: VersionLimits
  #watches: Watch[] = []
  #changes: RecordedChange[] = []
  #notes: string[] = []
  #bytes = 0
  #last = 0
  #starting: Promise<void> | undefined

  /** `now` is the time in ms since 1970. */
  constructor(stores: readonly Store[], now: () => number, limits = versionLimits) {
    this.#stores = stores
    this.#now = now
    this.#limits = limits
  }

  /** Resolves when all later changes will be recorded. Does nothing if it runs already. */
  start(): Promise<void> {
    return (this.#starting ??= this.#start())
  }

  /** Stops, and forgets all changes. Numbers go on. */
  stop(): void {
    for (const watch of this.#watches) watch.stop()
    this.#watches = []
    this.#changes = []
    this.#notes = []
    this.#bytes = 0
    this.#starting = undefined
  }

  /** The number of the last change. */
  get position(): number {
    return this.#last
  }

  /** Why changes are missing. */
  get notes(): readonly string[] {
    return this.#notes
  }

  /** Changes after a number, oldest first, and how many of them were dropped. */
  after(position: number): { readonly changes: readonly RecordedChange[]; readonly dropped: number } {
    const changes = this.#changes.filter(({ number }) => number > position)
    return { changes, dropped: this.#last - position - changes.length }
  }

  async #start(): Promise<void> {
    const revisions = await Promise.all(this.#stores.map((store) => store.currentRevision()))
    this.#watches = this.#stores.map((store, i) =>
      store.watch(everything, revisions[i]!, {
        events: (events) => this.#record(events),
        end: (error) => void this.#notes.push(`the watch of a store ended: ${messageOf(error)}`),
      }),
    )
  }

  #record(events: readonly ChangeEvent[]): void {
    const time = this.#now()
    for (const event of events) {
      this.#changes.push({ ...event, number: ++this.#last, time })
      this.#bytes += sizeOf(event)
    }
    while (this.#changes.length > this.#limits.versions || this.#bytes > this.#limits.bytes)
      this.#bytes -= sizeOf(this.#changes.shift()!)
  }
}

const sizeOf = ({ key, value }: ChangeEvent): number => key.length + (value?.length ?? 0)
