/**
 * The changes of a resource whose objects are converted asynchronously, in the order of the view, each delivered once
 * its objects have been converted. The feed ends when a conversion fails, and when the last listener leaves.
 */
import { internal } from '../../../machinery/status-error.ts'
import type { CacheView } from '../cache/cache-view.ts'
import type { ChangeFeed, ChangeListener, ObjectChange } from '../cache/object-change.ts'
import type { StoredObject } from '../stored-object.ts'

/** The feed ends when more changes wait than this: its clients start new watches on the state at that time. */
const maxWaiting = 20_000

/** The objects in changes that watches read. */
export const objectsOf = (changes: readonly ObjectChange[]): readonly StoredObject[] =>
  changes.flatMap(({ type, object, previous }) =>
    type === 'delete' ? (previous ?? []) : previous ? [object, previous] : object,
  )

export class ConvertedFeed implements ChangeFeed {
  readonly #view: CacheView
  readonly #prepare: (objects: readonly StoredObject[]) => Promise<void>
  readonly #listeners = new Set<ChangeListener>()
  readonly #unsubscribe: () => void
  readonly #start: number
  #through: number
  #waiting: ObjectChange[] = []
  #converting = false
  #hasEnded = false

  /** Converts the changes since `from`, if they are in memory, and all changes from now on. */
  constructor(view: CacheView, prepare: (objects: readonly StoredObject[]) => Promise<void>, from: number) {
    this.#view = view
    this.#prepare = prepare
    const missed = from < view.revision ? view.changesSince(from) : []
    this.#start = this.#through = missed && missed.length <= maxWaiting ? Math.min(from, view.revision) : view.revision
    this.#unsubscribe = view.subscribe({ changes: (batch) => this.#take(batch), end: (error) => this.#end(error) })
    if (missed?.length && this.#start === from) this.#add(missed)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  get revision(): number {
    return this.#converting ? this.#through : this.#view.revision
  }

  changesSince(revision: number): readonly ObjectChange[] | undefined {
    if (revision < this.#start) return undefined
    const changes = this.#view.changesSince(revision)
    return this.#converting ? changes?.filter((change) => change.revision <= this.#through) : changes
  }

  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stop()
    }
  }

  #take(batch: readonly ObjectChange[]): void {
    if (this.#listeners.size === 0) this.#stop()
    else this.#add(batch)
  }

  #add(batch: readonly ObjectChange[]): void {
    if (this.#waiting.length + batch.length > maxWaiting) {
      this.#end(internal('the conversion webhook is too slow for this watch'))
      return
    }
    for (const change of batch) this.#waiting.push(change)
    if (this.#converting) return
    this.#converting = true
    void this.#convert()
  }

  async #convert(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#hasEnded) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#prepare(objectsOf(batch))
      } catch (error) {
        return this.#end(error instanceof Error ? error : new Error(String(error)))
      }
      if (this.#hasEnded) return
      this.#through = batch.at(-1)!.revision
      for (const listener of [...this.#listeners]) this.#notify(listener, batch)
    }
    this.#converting = false
  }

  /** A listener that throws is removed; the others are still notified. */
  #notify(listener: ChangeListener, batch: readonly ObjectChange[]): void {
    try {
      listener.changes(batch)
    } catch (error) {
      this.#listeners.delete(listener)
      listener.end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #stop(): void {
    this.#hasEnded = true
    this.#unsubscribe()
  }

  #end(error: Error): void {
    if (this.#hasEnded) return
    this.#stop()
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener.end(error)
  }
}
