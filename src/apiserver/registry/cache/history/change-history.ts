/** The last changes of a resource, bounded in number and bytes. What came before them is in the store's history. */
import { type ObjectChange, weightOf } from '../object-change.ts'

/** What is kept at least, if there is so much. */
export const keptChanges = 1000
const keptBytes = 8 * 1024 * 1024
/**
 * Trimming copies the rest, so it is done for several at once; not for so many that what becomes of them takes long.
 */
const slack = 1.04

export class ChangeHistory {
  #changes: ObjectChange[] = []
  readonly #forgot: (change: ObjectChange) => void
  #bytes = 0
  #start: number

  /** `start`: the revision from which on there will be all changes. `forgot` is told of each that is kept no longer. */
  constructor(start: number, forgot: (change: ObjectChange) => void = () => {}) {
    this.#start = start
    this.#forgot = forgot
  }

  add(batch: readonly ObjectChange[]): void {
    for (const change of batch) {
      this.#changes.push(change)
      this.#bytes += weightOf(change)
    }
    if (this.#changes.length > keptChanges * slack || this.#bytes > keptBytes * slack) this.#trim()
  }

  /** Changes after `revision`, oldest first; undefined if they are no longer all here. */
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
    while (this.#changes.length - dropped > keptChanges || this.#bytes > keptBytes)
      this.#bytes -= weightOf(this.#changes[dropped++]!)
    this.#start = this.#changes[dropped - 1]!.revision
    // A revision is here as a whole or not at all.
    for (let next = this.#changes[dropped]; next?.revision === this.#start; next = this.#changes[dropped]) {
      this.#bytes -= weightOf(next)
      dropped++
    }
    const forgotten = this.#changes
    this.#changes = forgotten.slice(dropped)
    for (let at = 0; at < dropped; at++) this.#forgot(forgotten[at]!)
  }
}
