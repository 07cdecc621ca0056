/** Returns a copy with sorted keys, as Go prints maps. */
export const sortedByKey = <T>(map: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
