/** Escapes field names that are not CEL identifiers for expressions: `a-b` is `a__dash__b` (KEP-2876). */

const reserved = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
)
const marks: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** Returns the name in expressions, or undefined for a field that expressions cannot access. */
export function escapeFieldName(name: string): string | undefined {
  if (name === '' || /^[0-9]/.test(name) || name === '__') return name === '__' ? '__underscores__' : undefined
  if (reserved.has(name)) return `__${name}__`
  if (!/^[A-Za-z0-9_.\-/]+$/.test(name)) return undefined
  return name.replace(/__|[.\-/]/g, (mark) => marks[mark] ?? mark)
}

/** Returns the field of an escaped name, or undefined if the name is not a valid escape. */
export function unescapeFieldName(name: string): string | undefined {
  const word = /^__([a-z]+)__$/.exec(name)?.[1]
  if (word !== undefined && reserved.has(word)) return word
  const plain = name.replace(
    /__(underscores|dot|dash|slash)__/g,
    (_, mark: string) => ({ underscores: '__', dot: '.', dash: '-', slash: '/' })[mark] ?? '',
  )
  return escapeFieldName(plain) === name ? plain : undefined
}
