/** Parses signatures and types from Go's tokens. Errors contain the position. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import { type Token, tokensOf } from './tokens.ts'
import { type Field, type GoType, type Signature, typeNamed } from './types.ts'

/** Parses a signature such as `func (s *T) name(a int) error`. Throws an ExplainedError if it is invalid. */
export function parseSignature(text: string): Signature {
  const tokens = tokensOf(text.trim().startsWith('func') ? text : `func ${text}`)
  const parser = new GoParser(tokens)
  try {
    parser.expect('func')
    const signature = parser.signature()
    const more = parser.peek()
    // A body may follow if the signature was copied from a source file.
    if (more && more.text !== '{') throw new Unexpected(more)
    return signature
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error
    throw new ExplainedError(
      `--func ${JSON.stringify(text)} is not a Go signature (at ` +
        `${error.at ? JSON.stringify(error.at.text) : 'its end'}): write it as in the source, such as 'func (s ` +
        "*Server) handle(ctx context.Context, id string) error'",
    )
  }
}

/** A token that the grammar does not allow. */
export class Unexpected extends Error {
  readonly at: Token | undefined

  constructor(at: Token | undefined) {
    super('unexpected token')
    this.at = at
  }
}

/** Maximum nesting of a type. */
const maxDepth = 100

export class GoParser {
  readonly #tokens: readonly Token[]
  #depth = 0
  at: number

  constructor(tokens: readonly Token[], at = 0) {
    this.#tokens = tokens
    this.at = at
  }

  peek(ahead = 0): Token | undefined {
    return this.#tokens[this.at + ahead]
  }

  is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead)
    return token?.text === text && token.kind !== 'text'
  }

  expect(text: string): void {
    if (!this.is(text)) throw new Unexpected(this.peek())
    this.at++
  }

  /** Parses what follows `func`, of a declaration or a literal. */
  signature(): Signature {
    let receiver: Field | undefined
    if (this.is('(') && !this.#isLiteral()) [receiver] = this.parameters()
    let name = ''
    if (this.peek()?.kind === 'name') {
      // `cart.(*Cart).Add` of a stack is not Go syntax, but `pkg.name` is accepted as name.
      name = this.#name()
      while (this.is('.')) {
        this.at++
        name = this.#name()
      }
    }
    if (this.is('[')) this.#skipBrackets()
    return { name, ...(receiver && { receiver }), parameters: this.parameters(), results: this.#results() }
  }

  parameters(): readonly Field[] {
    this.expect('(')
    const items: { readonly name: string; readonly type: GoType | undefined }[] = []
    while (!this.is(')')) {
      items.push(this.#parameter())
      if (!this.is(')')) this.expect(',')
    }
    this.at++
    // A list has either names and types, or only types.
    if (!items.some(({ name, type }) => name !== '' && type))
      return items.map(({ name, type }) => ({ name: '', type: type ?? typeNamed(name) }))
    // `a, b int`: a name without a type has the type of the next one.
    let type: GoType | undefined
    const fields: Field[] = []
    for (const item of items.reverse()) {
      type = item.type ?? type
      if (!type) throw new Unexpected(this.peek(-1))
      fields.push({ name: item.name, type })
    }
    return fields.reverse()
  }

  type(): GoType {
    if (++this.#depth > maxDepth) throw new Unexpected(this.peek())
    try {
      return this.#type()
    } finally {
      this.#depth--
    }
  }

  #type(): GoType {
    const from = this.at
    const token = this.peek()
    switch (token?.text) {
      case '*':
        this.at++
        this.type()
        return { kind: 'pointer', text: this.#since(from) }
      case '(': {
        this.at++
        const type = this.type()
        this.expect(')')
        return type
      }
      case '[':
        return this.#arrayOrSlice(from)
      case '<-':
      case 'chan':
        this.at++
        if (this.is('chan') || this.is('<-')) this.at++
        this.type()
        return { kind: 'pointer', text: this.#since(from) }
      case 'map':
        this.at++
        this.#skipBrackets()
        this.type()
        return { kind: 'pointer', text: this.#since(from) }
      case 'func':
        this.at++
        this.parameters()
        this.#results()
        return { kind: 'pointer', text: this.#since(from) }
      case 'interface':
        this.at++
        this.#skipBraces()
        return { kind: 'interface', text: this.#since(from) }
      case 'struct':
        this.at++
        return { kind: 'struct', fields: this.#fields(), text: this.#since(from) }
      default:
        return this.#namedType(from)
    }
  }

  #arrayOrSlice(from: number): GoType {
    const [, inside, end] = [0, 1, 2].map((ahead) => this.peek(ahead)?.text)
    if (inside === ']') {
      this.at += 2
      this.type()
      return { kind: 'slice', text: this.#since(from) }
    }
    this.#skipBrackets()
    const element = this.type()
    const length = end === ']' && /^\d[\d_]*$/.test(inside ?? '') ? Number(inside?.replaceAll('_', '')) : undefined
    return { kind: 'array', length, element, text: this.#since(from) }
  }

  #namedType(from: number): GoType {
    this.#name()
    if (this.is('.')) {
      this.at++
      this.#name()
    }
    if (this.is('[') && !this.is(']', 1)) this.#skipBrackets()
    return typeNamed(this.#since(from))
  }

  #fields(): readonly Field[] {
    const fields: Field[] = []
    this.expect('{')
    while (!this.is('}')) {
      const from = this.at
      const names: string[] = []
      while (this.peek()?.kind === 'name' && this.is(',', 1)) {
        names.push(this.#name())
        this.at++
      }
      // An embedded field: only a type, at the end of its line or before its tag.
      const line = this.peek()?.line
      const next = this.peek(1)
      const isEmbedded =
        names.length === 0 &&
        (this.is('*') ||
          next?.line !== line ||
          next?.text === '.' ||
          next?.text === ';' ||
          next?.text === '}' ||
          next?.kind === 'text')
      if (!isEmbedded) names.push(this.#name())
      const type = this.type()
      if (isEmbedded)
        names.push(
          this.#since(from)
            .replace(/^\*?(?:\w+\.)?/, '')
            .replace(/\[.*/, ''),
        )
      if (this.peek()?.kind === 'text') this.at++
      if (this.is(';')) this.at++
      fields.push(...names.map((name) => ({ name, type })))
    }
    this.at++
    return fields
  }

  /** Parses a type, a single name (which may be a type), or a name and a type. */
  #parameter(): { readonly name: string; readonly type: GoType | undefined } {
    const token = this.peek()
    const isName = token?.kind === 'name' && !/^(func|map|chan|struct|interface)$/.test(token.text)
    if (!isName || this.is('.', 1)) return { name: '', type: this.#maybeVariadic() }
    if (this.is(',', 1) || this.is(')', 1)) return { name: this.#name(), type: undefined }
    if (this.is('[', 1)) {
      // `l List[int]` is a name and a type, `List[int]` a type, `a [2]int` a name and a type.
      const end = this.#closing(this.at + 1)
      const behind = this.#tokens[end + 1]?.text
      if (end > this.at + 2 && (behind === ',' || behind === ')')) return { name: '', type: this.type() }
    }
    return { name: this.#name(), type: this.#maybeVariadic() }
  }

  #maybeVariadic(): GoType {
    const from = this.at
    if (!this.is('...')) return this.type()
    this.at++
    this.type()
    return { kind: 'slice', text: this.#since(from) }
  }

  #results(): readonly Field[] {
    if (this.is('(')) return this.parameters()
    const token = this.peek()
    const hasOne =
      token !== undefined &&
      (token.kind === 'name' ? token.line === this.peek(-1)?.line : ['*', '[', '<-'].includes(token.text))
    return hasOne ? [{ name: '', type: this.type() }] : []
  }

  /** True for `func (…)` of a literal or a type: no name follows the parentheses. */
  #isLiteral(): boolean {
    const end = this.#closing(this.at)
    const next = this.#tokens[end + 1]
    const behind = this.#tokens[end + 2]?.text
    return !(next?.kind === 'name' && (behind === '(' || behind === '['))
  }

  #name(): string {
    const token = this.peek()
    if (token?.kind !== 'name') throw new Unexpected(token)
    this.at++
    return token.text
  }

  #skipBrackets(): void {
    if (!this.is('[')) throw new Unexpected(this.peek())
    this.at = this.#closing(this.at) + 1
  }

  #skipBraces(): void {
    if (!this.is('{')) throw new Unexpected(this.peek())
    this.at = this.#closing(this.at) + 1
  }

  /** Returns the index of the closing bracket. */
  #closing(open: number): number {
    let depth = 0
    for (let at = open; at < this.#tokens.length; at++) {
      const { kind, text } = this.#tokens[at]!
      if (kind !== 'sign') continue
      if (text === '(' || text === '[' || text === '{') depth++
      else if ((text === ')' || text === ']' || text === '}') && --depth === 0) return at
    }
    throw new Unexpected(undefined)
  }

  /** Returns the text of the tokens from `from` on, in one line. */
  #since(from: number): string {
    const [first, ...rest] = this.#tokens.slice(from, this.at)
    return rest.reduce((text, token) => `${text}${token.spaced ? ' ' : ''}${token.text}`, first?.text ?? '')
  }
}
