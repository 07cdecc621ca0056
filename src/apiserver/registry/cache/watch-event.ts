/** What a change is to a watch with a selection, and many of them as bytes. */

import type { ServedResource } from '../served-resource.ts'
import type { StoredObject } from '../stored-object.ts'
import { type ObjectChange, type View, viewedChange } from './object-change.ts'
import type { EventType, Representation } from './representation.ts'
import type { Selection } from './selection.ts'

export interface WatchEvent {
  readonly type: EventType
  readonly object: StoredObject
}

/** What watches of one group have in common. */
export interface WatchForm {
  readonly resource: ServedResource
  readonly selection: Selection
  readonly representation: Representation
  readonly view: View
}

/** Objects come into a selection, change in it, and leave it. */
export function eventOf(change: ObjectChange, selection: Selection): WatchEvent | undefined {
  const { type, previous } = change
  const isIn = type === 'put' && selection.matches(change.object)
  const wasIn = previous !== undefined && selection.matches(previous)
  // The object of a delete is a copy that is made when it is asked for: most watches with a selection never do.
  if (isIn) return { type: wasIn ? 'MODIFIED' : 'ADDED', object: change.object }
  if (wasIn) return { type: 'DELETED', object: type === 'delete' ? change.object : previous.at(change.revision) }
  return undefined
}

/** The events that changes are to a form of watch; undefined if they are none. */
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

/** The events of a batch, encoded when first asked for. */
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

  /** Bytes of each event, once `bytes` was asked for. */
  get sizes(): readonly number[] {
    return this.#sizes
  }

  /** For a watch that has sent nothing yet, where that makes a difference. */
  get firstBytes(): Buffer {
    return this.#representation.firstDiffers ? this.#encode(true) : this.bytes
  }

  /** What of it is newer than `revision`; undefined if nothing is. */
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
