/** The watch event of a change under a selection, and encoded batches of events. */

import type { ServedResource } from '../../served-resource.ts'
import type { StoredObject } from '../../stored-object.ts'
import { type ObjectChange, type View, viewedChange } from '../object-change.ts'
import type { EventType, Representation } from '../representation.ts'
import type { Selection } from '../selection.ts'

export interface WatchEvent {
  readonly type: EventType
  readonly object: StoredObject
}

/** The properties that all watches of one group share. */
export interface WatchForm {
  readonly resource: ServedResource
  readonly selection: Selection
  readonly representation: Representation
  readonly view: View
}

/** The event of a change: an object enters a selection (ADDED), changes in it, or leaves it (DELETED). */
export function eventOf(change: ObjectChange, selection: Selection): WatchEvent | undefined {
  const { type, previous } = change
  const isIn = type === 'put' && selection.matches(change.object)
  const wasIn = previous !== undefined && selection.matches(previous)
  // The object of a delete is a copy made on first access: most watches with a selection never need it.
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', object: change.object }
  if (wasIn) return { type: 'DELETED', object: type === 'delete' ? change.object : previous.at(change.revision) }
  return undefined
}

/** Encodes the changes for watches of this form; undefined if none of them is selected. */
export function encodeChanges(
  changes: readonly ObjectChange[],
  { resource, selection, representation, view }: WatchForm,
): EncodedBatch | undefined {
  const events: WatchEvent[] = []
  for (const change of changes) {
    const event = eventOf(viewedChange(change, resource, view), selection)
    if (event) events.push(event)
  }
  return events.length ? new EncodedBatch(events, representation) : undefined
}

/** The events of a batch, encoded on first access. */
export class EncodedBatch {
  readonly events: readonly WatchEvent[]
  readonly #representation: Representation
  #bytes: Buffer | undefined
  #sizes: readonly number[] = []

  constructor(events: readonly WatchEvent[], representation: Representation) {
    this.events = events
    this.#representation = representation
  }

  get bytes(): Buffer {
    return (this.#bytes ??= this.#encode(false))
  }

  /** Bytes of each event; empty until `bytes` was read. */
  get sizes(): readonly number[] {
    return this.#sizes
  }

  /** The bytes for a watch that has sent nothing yet, if its first event differs. */
  get firstBytes(): Buffer {
    return this.#representation.firstDiffers ? this.#encode(true) : this.bytes
  }

  /** The events that are newer than `revision`; undefined if there are none. */
  after(revision: number): EncodedBatch | undefined {
    const { events } = this
    if (events.length > 0 && events[0]!.object.revision > revision) return this
    const newer = events.filter(({ object }) => object.revision > revision)
    return newer.length ? new EncodedBatch(newer, this.#representation) : undefined
  }

  #encode(first: boolean): Buffer {
    const lines = this.events.map(({ type, object }, i) => this.#representation.event(type, object, first && i === 0))
    this.#sizes = lines.map(({ length }) => length)
    return lines.length === 1 ? lines[0]! : Buffer.concat(lines)
  }
}
