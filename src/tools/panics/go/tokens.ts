/** Splits Go source into tokens, as far as declarations need them. Skips comments and spaces. */

export interface Token {
  /** `name`: identifiers and keywords. */
  readonly kind: 'name' | 'number' | 'text' | 'sign'
  readonly text: string
  /** From 1. */
  readonly line: number
  /** True if a space or a comment precedes it. */
  readonly spaced: boolean
}

const pattern = new RegExp(
  [
    /[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\//,
    /(?<name>[\p{L}_][\p{L}\p{Nd}_]*)|(?<number>\d[\w.]*)/u,
    /(?<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)+')|(?<sign>\.\.\.|<-|[\s\S])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'uy',
)

export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = []
  let line = 1
  let spaced = false
  pattern.lastIndex = 0
  for (let found = pattern.exec(source); found; found = pattern.exec(source)) {
    const { name, number, text, sign } = found.groups ?? {}
    if (name !== undefined) tokens.push({ kind: 'name', text: name, line, spaced })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, line, spaced })
    else if (text !== undefined) tokens.push({ kind: 'text', text, line, spaced })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, line, spaced })
    spaced = (name ?? number ?? text ?? sign) === undefined
    for (let at = found[0].indexOf('\n'); at >= 0; at = found[0].indexOf('\n', at + 1)) line++
  }
  return tokens
}
