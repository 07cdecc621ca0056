/** Times as objects of the API tell them. */

/** RFC 3339 in whole seconds. `ms` is since the epoch. */
export const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
