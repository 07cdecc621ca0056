/** Formats times for API objects. */

/** RFC 3339 with whole seconds. `ms` is since the epoch. */
export const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
