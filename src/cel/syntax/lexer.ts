/** Splits an expression into tokens. Unrecognized text is skipped and becomes an issue with ANTLR's message. */
import type { Issue } from './issues.ts'

export type TokenKind = 'end' | 'punctuation' | 'identifier' | 'escaped' | 'int' | 'uint' | 'float' | 'string' | 'bytes'

export interface Token {
  readonly kind: TokenKind
  /** The text in the source; `<EOF>` at its end. */
  readonly text: string
  readonly position: number
}

const space = /[\t\r\n\f ]+|\/\/[^\n]*/y
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y
const escaped = /`[A-Za-z0-9_.\-/ ]+`/y
const float = /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y
const integer = /(?:0x[0-9A-Fa-f]+|[0-9]+)([uU]?)/y
const punctuation = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y
const prefix = /([bB]?[rR]?|[rR][bB])(?="|')/y
const hex = '[0-9a-fA-F]'
const escapeSequence = String.raw`\\(?:[abfnrtv"'\\?\x60]|[xX]${hex}{2}|u${hex}{4}|U${hex}{8}|[0-3][0-7]{2})`
const brokenEscape = String.raw`\\(?:[xX]${hex}?|u${hex}{0,3}|U${hex}{0,7}|[0-3][0-7]?)?`
const quoted = {
  cooked: new RegExp(
    `"""(?:${escapeSequence}|[^\\\\])*?"""|'''(?:${escapeSequence}|[^\\\\])*?'''|` +
      `"(?:${escapeSequence}|[^\\\\"\\n\\r])*"|'(?:${escapeSequence}|[^\\\\'\\n\\r])*'`,
    'y',
  ),
  raw: /"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"\n\r]*"|'[^'\n\r]*'/y,
}

/** Returns all tokens. The last one is the end. */
export function tokens(source: string): { readonly tokens: readonly Token[]; readonly issues: readonly Issue[] } {
  const found: Token[] = []
  const issues: Issue[] = []
  let at = 0
  const match = (pattern: RegExp, from = at): string | undefined => {
    pattern.lastIndex = from
    return pattern.exec(source)?.[0]
  }
  while (at < source.length) {
    const blank = match(space)
    if (blank !== undefined) {
      at += blank.length
      continue
    }
    const token = next(match, at)
    if (token) {
      found.push(token)
      at += token.text.length
    } else {
      const text = unrecognized(source, at)
      issues.push({
        message: `Syntax error: token recognition error at: '${text.replaceAll('\n', '\\n').replaceAll('\t', '\\t')}'`,
        position: at,
      })
      at += text.length
    }
  }
  found.push({ kind: 'end', text: '<EOF>', position: source.length })
  return { tokens: found, issues }
}

function next(match: (pattern: RegExp, from?: number) => string | undefined, position: number): Token | undefined {
  const lead = match(prefix)
  if (lead !== undefined) {
    const body = match(/[rR]/.test(lead) ? quoted.raw : quoted.cooked, position + lead.length)
    if (body !== undefined) return { kind: /[bB]/.test(lead) ? 'bytes' : 'string', text: lead + body, position }
    if (lead === '') return undefined
  }
  const word = match(identifier)
  if (word !== undefined)
    return word === 'in' ? { kind: 'punctuation', text: word, position } : { kind: 'identifier', text: word, position }
  const fraction = match(float)
  if (fraction !== undefined) return { kind: 'float', text: fraction, position }
  const whole = match(integer)
  if (whole !== undefined) return { kind: /[uU]$/.test(whole) ? 'uint' : 'int', text: whole, position }
  const quotedName = match(escaped)
  if (quotedName !== undefined) return { kind: 'escaped', text: quotedName, position }
  const mark = match(punctuation)
  return mark === undefined ? undefined : { kind: 'punctuation', text: mark, position }
}

/** Matches the start of a string up to the first character that cannot continue it, possibly inside an escape. */
const begun = new RegExp(
  `(?:"(?:${escapeSequence}|[^\\\\"\\n\\r])*|'(?:${escapeSequence}|[^\\\\'\\n\\r])*)(?:${brokenEscape})?`,
  'y',
)

/**
 * Returns the unrecognized text, up to the first invalid character: a string, half of an operator, or a single
 * character.
 */
function unrecognized(source: string, at: number): string {
  const [first = ''] = source.slice(at, at + 2)
  if (first === '"' || first === "'") {
    begun.lastIndex = at
    const text = begun.exec(source)?.[0] ?? first
    const [wrong = ''] = source.slice(at + text.length, at + text.length + 2)
    return text + wrong
  }
  const [second = ''] = source.slice(at + first.length, at + first.length + 2)
  return '=&|'.includes(first) ? first + second : first
}
