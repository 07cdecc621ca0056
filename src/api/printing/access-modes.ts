/** Formats access modes for tables. */

const shortNames: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

/** Returns for example `RWO,ROX`: unique and in a fixed order. */
export const accessModesText = (modes: readonly string[] | undefined): string =>
  shortNames
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',')
