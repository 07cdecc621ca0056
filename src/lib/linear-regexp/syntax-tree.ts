/** The syntax tree of an expression. */

export type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'chars'; readonly chars: CharClass }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'choice'; readonly nodes: readonly Node[] }
  /** A lazy repetition prefers fewer repeats, which affects what is found, not whether it matches. */
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number; readonly lazy: boolean }

export type Assertion = 'text-start' | 'text-end' | 'line-start' | 'line-end' | 'word-boundary' | 'no-word-boundary'

/** A set of code points. */
export interface CharClass {
  /** Pairs of first and last, in any order. */
  readonly ranges: readonly number[]
  /** General categories and scripts, tested with JavaScript's engine. */
  readonly properties?: readonly RegExp[]
  readonly negated: boolean
  /** True to ignore case. */
  readonly fold: boolean
  /** Nested classes. */
  readonly inner?: readonly CharClass[]
}

/** Returns true if the class contains a code point. */
export function hasChar(chars: CharClass, code: number): boolean {
  return anyCase(chars, code) !== chars.negated
}

function anyCase(chars: CharClass, code: number): boolean {
  if (within(chars, code)) return true
  if (!chars.fold) return false
  const text = String.fromCodePoint(code)
  const lower = text.toLowerCase().codePointAt(0) ?? code
  const upper = text.toUpperCase().codePointAt(0) ?? code
  return (lower !== code && within(chars, lower)) || (upper !== code && within(chars, upper))
}

function within({ ranges, properties, inner }: CharClass, code: number): boolean {
  for (let i = 0; i < ranges.length; i += 2) if (code >= ranges[i]! && code <= ranges[i + 1]!) return true
  if (properties) {
    const text = String.fromCodePoint(code)
    if (properties.some((property) => property.test(text))) return true
  }
  return inner?.some((it) => hasChar(it, code)) ?? false
}
