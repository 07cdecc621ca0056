/** A stored object without the values that each cluster chooses: its UID and the times of its creation. */
import type { Entry } from '../../../storage/store.ts'

export interface ObjectTemplate {
  readonly key: string
  /** The stored JSON. */
  readonly bytes: Buffer
  /** The positions of UIDs and of timestamps in the bytes. */
  readonly uids: readonly number[]
  readonly times: readonly number[]
}

const uid = /"uid":"(?=[0-9a-f-]{36}")/g
const time = /"(?:creationTimestamp|lastTransitionTime|time)":"(?=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")/g

/** Returns the template of a stored object, which must be JSON as the server writes it. */
export function templateOf({ key, value }: Pick<Entry, 'key' | 'value'>): ObjectTemplate {
  const text = value.toString('latin1')
  const after = (pattern: RegExp): number[] =>
    Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => index + length)
  return { key, bytes: value, uids: after(uid), times: after(time) }
}

/** Returns the stored JSON of a new object. `now` is RFC 3339 with seconds, in UTC. */
export function fromTemplate({ bytes, uids, times }: ObjectTemplate, newUid: string, now: string): Buffer {
  const copy = Buffer.from(bytes)
  for (const at of uids) copy.write(newUid, at, 'latin1')
  for (const at of times) copy.write(now, at, 'latin1')
  return copy
}
