/**
 * The tokens of an expression as the parser reads them, and the issues found so far. Errors of syntax are ANTLR's: it
 * recovers from one extraneous token and stops at anything else.
 */
import type { Issue } from './issues.ts'
import type { Token } from './lexer.ts'

/** Stops parsing. The issue has been added already. */
export class Fatal extends Error {}

/** The tokens that an expression may begin with, in the order of the grammar. */
const beginnings = [
  "'['",
  "'{'",
  "'('",
  "'.'",
  "'-'",
  "'!'",
  "'true'",
  "'false'",
  "'null'",
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
]
const order = [
  "'['",
  "']'",
  "'{'",
  "'}'",
  "'('",
  "')'",
  "'.'",
  "','",
  "'-'",
  "'!'",
  "'?'",
  "'true'",
  "'false'",
  "'null'",
]

/** Formats the expected tokens: in braces, in the order of the grammar. */
export function expecting(extra: readonly string[]): string {
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  return `{${[...beginnings, ...extra].sort((a, b) => rank(a) - rank(b)).join(', ')}}`
}

/** Returns true if an expression may begin with this token. */
export const begins = ({ kind, text }: Token): boolean =>
  kind === 'punctuation' ? '[{(.-!'.includes(text) : kind !== 'end' && kind !== 'escaped'

export class TokenStream {
  readonly #tokens: readonly Token[]
  readonly #issues: Issue[]
  #at = 0

  /** The last token is of the kind `end`. Issues are added to `issues`. */
  constructor(tokens: readonly Token[], issues: Issue[]) {
    this.#tokens = tokens
    this.#issues = issues
  }

  get current(): Token {
    return this.#tokens[this.#at] as Token
  }

  get following(): Token {
    return this.#tokens[Math.min(this.#at + 1, this.#tokens.length - 1)] as Token
  }

  /** Returns true if the current token is this punctuation. */
  is(text: string): boolean {
    return this.current.kind === 'punctuation' && this.current.text === text
  }

  /** Returns the current token and moves on; stays at the end. */
  take(): Token {
    return this.#tokens[this.#at < this.#tokens.length - 1 ? this.#at++ : this.#at] as Token
  }

  /** Takes the current token if it is this punctuation. */
  accept(text: string): Token | undefined {
    return this.is(text) ? this.take() : undefined
  }

  issue(message: string, position: number | undefined): void {
    this.#issues.push({ message, position })
  }

  fatal(message: string, position: number | undefined): never {
    this.issue(message, position)
    throw new Fatal()
  }

  /** Takes the token `text`. Recovers from an extraneous token before it. */
  expect(text: string, among = `'${text}'`): Token {
    if (this.is(text)) return this.take()
    const token = this.current
    const { following } = this
    if (following.kind === 'punctuation' && following.text === text) {
      this.issue(`Syntax error: extraneous input '${token.text}' expecting ${among}`, token.position)
      this.take()
      return this.take()
    }
    const fits = text === ':' ? begins(token) : token.kind === 'end' || token.kind === 'punctuation'
    if (among === `'${text}'` && fits)
      return this.fatal(`Syntax error: missing '${text}' at '${token.text}'`, token.position)
    return this.fatal(`Syntax error: mismatched input '${token.text}' expecting ${among}`, token.position)
  }

  /** Checks that an expression begins here. `extra` are tokens that would be allowed too. */
  checkBeginning(extra: readonly string[] = []): void {
    const token = this.current
    if (begins(token)) return
    if (begins(this.following) && token.kind !== 'end') {
      this.issue(`Syntax error: extraneous input '${token.text}' expecting ${expecting(extra)}`, token.position)
      this.take()
      return
    }
    this.fatal(`Syntax error: mismatched input '${token.text}' expecting ${expecting(extra)}`, token.position)
  }

  /** Checks that nothing follows. */
  checkEnd(): void {
    const { current, following } = this
    if (current.kind === 'end') return
    this.fatal(
      `Syntax error: ${following.kind === 'end' ? 'extraneous' : 'mismatched'} input '${current.text}' expecting <EOF>`,
      current.position,
    )
  }

  /**
   * Takes names that are joined by dots and followed by a brace, such as `.b.C` before `{`. Returns them, or undefined
   * if there are none.
   */
  takeDottedNames(): string | undefined {
    const tokens = this.#tokens
    let ahead = this.#at
    let names = ''
    while (tokens[ahead]?.text === '.' && tokens[ahead + 1]?.kind === 'identifier') {
      names += `.${tokens[ahead + 1]?.text}`
      ahead += 2
    }
    if (names === '' || tokens[ahead]?.kind !== 'punctuation' || tokens[ahead]?.text !== '{') return undefined
    this.#at = ahead
    return names
  }
}
