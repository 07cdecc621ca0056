/** Representations: the formats in which objects, lists and watch events are sent to clients. */
import type { Pieces } from '../../http/exchange.ts'
import type { StoredObject } from '../stored-object.ts'

export interface ListMeta {
  /** Absent for objects that are not stored. */
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface Representation {
  /** Equal keys mean equal bytes for the same object: watches of one kind share encoded events. */
  readonly key: string
  readonly contentType: string
  /** One object as JSON. */
  object(object: StoredObject): readonly Buffer[]
  /** A list as JSON. */
  list(objects: readonly StoredObject[], meta: ListMeta): readonly Buffer[] | Pieces
  /** One line of a watch. `first`: it is the first event of this watch. */
  event(type: EventType, object: StoredObject, first: boolean): Buffer
  /** True if the first event differs from later ones. */
  readonly firstDiffers: boolean
  bookmark(revision: number, annotations?: Readonly<Record<string, string>>): Buffer
}

/** `,"annotations":…`, for bookmarks. */
export const bookmarkMeta = (revision: number, annotations?: Readonly<Record<string, string>>): string =>
  `{"resourceVersion":"${revision}","creationTimestamp":null` +
  `${annotations ? `,"annotations":${JSON.stringify(annotations)}` : ''}}`
