/**
 * Parses the words between the parentheses of a frame to a tree: Go 1.17 and newer put the words of one value in
 * braces.
 */

export type Word =
  /** `0x1f`; `0x1f?` may be stale: the value was in a register that has been reused since. */
  | { readonly kind: 'word'; readonly value: bigint; readonly stale: boolean }
  /** `_`: too far back in the frame for the compiler's tables. */
  | { readonly kind: 'hidden' }
  /** `...`: the rest is truncated. */
  | { readonly kind: 'more' }
  | { readonly kind: 'group'; readonly words: readonly Word[] }

/** Returns undefined if the text is not a list of words. */
export function parseWords(text: string): readonly Word[] | undefined {
  const tokens = text.match(/0x[0-9a-f]+\??|\.\.\.|[{}_?]|[^\s,]/g) ?? []
  let at = 0
  const list = (isInside: boolean): Word[] | undefined => {
    const words: Word[] = []
    for (; at < tokens.length; at++) {
      const token = tokens[at]!
      if (token === '}') return isInside ? words : undefined
      if (token === '...') words.push({ kind: 'more' })
      else if (token === '_') words.push({ kind: 'hidden' })
      else if (token.startsWith('0x'))
        words.push({ kind: 'word', value: BigInt(token.replace('?', '')), stale: token.endsWith('?') })
      else if (token === '{') {
        at++
        const inner = list(true)
        if (!inner) return undefined
        words.push({ kind: 'group', words: inner })
      } else return undefined
    }
    return isInside ? undefined : words
  }
  return list(false)
}

/** Returns true if the words show that they are of Go 1.17 or newer: by braces, stale marks or gaps. */
export const isStructured = (words: readonly Word[]): boolean =>
  words.some((word) => word.kind === 'group' || word.kind === 'hidden' || (word.kind === 'word' && word.stale))

/** A word as Go prints it. */
export function wordText(word: Word): string {
  switch (word.kind) {
    case 'word':
      return `0x${word.value.toString(16)}${word.stale ? '?' : ''}`
    case 'hidden':
      return '?'
    case 'more':
      return '...'
    case 'group':
      return `{${word.words.map(wordText).join(', ')}}`
  }
}
