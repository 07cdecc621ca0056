/** Formats times for the API. */

/** RFC 3339 in seconds, as in most objects. `ms` is since 1970. */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** With microseconds, as in leases. */
export const microTimestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000Z`
