/** The last changes of a resource, bounded in number and bytes. Older ones are in the store's history. */
import { type ObjectChange, weightOf } from '../object-change.ts'

/** The number of changes that are retained, if they fit into the bytes. */
export const historyLength = 1000
const historyBytes = 8 * 1024 * 1024
/** Trimming copies the rest, so it drops several at a time; not so many that handling the dropped ones takes long. */
const slack = 1.04

export class ChangeHistory {
  #changes: ObjectChange[] = []
  readonly #forgotten: (change: ObjectChange) => void
  #bytes = 0
  #start: number

  /**
   * `start`: all changes after this revision will be present. `forgotten` is called for each change that is dropped.
   */
  constructor(start: number, forgotten: (change: ObjectChange) => void = () => {}) {
    this.#start = start
    this.#forgotten = forgotten
  }

  add(batch: readonly ObjectChange[]): void {
    for (const change of batch) {
      this.#changes.push(change)
      this.#bytes += weightOf(change)
    }
    if (this.#changes.length > historyLength * slack || this.#bytes > historyBytes * slack) this.#trim()
  }

  /** Changes after `revision`, oldest first; undefined if some have been dropped. */
  since(revision: number): readonly ObjectChange[] | undefined {
    if (revision < this.#start) return undefined
    const changes = this.#changes
    let low = 0
    let high = changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (changes[middle]!.revision <= revision) low = middle + 1
      else high = middle
    }
    return low === changes.length ? [] : changes.slice(low)
  }

  #trim(): void {
    let dropped = 0
    while (this.#changes.length - dropped > historyLength || this.#bytes > historyBytes)
      this.#bytes -= weightOf(this.#changes[dropped++]!)
    this.#start = this.#changes[dropped - 1]!.revision
    // A revision is retained as a whole or not at all.
    for (let next = this.#changes[dropped]; next?.revision === this.#start; next = this.#changes[dropped]) {
      this.#bytes -= weightOf(next)
      dropped++
    }
    const before = this.#changes
    this.#changes = before.slice(dropped)
    for (let at = 0; at < dropped; at++) this.#forgotten(before[at]!)
  }
}
