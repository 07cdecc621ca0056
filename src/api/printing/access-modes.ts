/** Access modes as tables print them. */

const shortNames: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

/** `RWO,ROX`, each once and in a fixed order. */
export const accessModesText = (modes: readonly string[] | undefined): string =>
  shortNames
    .filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',')
