/** A recursive descent parser of CEL expressions: one method per level of the grammar, from loose to tight binding. */
import { MacroError } from '../library.ts'
import type { Expr, FieldEntry, MapEntry } from './ast.ts'
import { astFactory, balanced, ids } from './factory.ts'
import type { Token } from './lexer.ts'
import { limits } from './limits.ts'
import { literalValue } from './literals.ts'
import { type Macros, macroKey } from './macros.ts'
import { begins, expecting, type TokenStream } from './token-stream.ts'

const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
/** Names that are keywords, even after a dot. */
const keywords = new Set(['true', 'false', 'null', 'in'])
const relations = new Set(['==', '!=', '<', '<=', '>', '>=', 'in'])
const sums = new Set(['+', '-'])
const products = new Set(['*', '/', '%'])

/** Nodes have ids in the order in which they are created. */
export class ExpressionParser {
  readonly #tokens: TokenStream
  readonly #macros: Macros
  readonly #ids = ids()
  #depth = 0

  constructor(tokens: TokenStream, macros: Macros) {
    this.#tokens = tokens
    this.#macros = macros
  }

  /** Parses an expression. `extra` are tokens that would be allowed in its place. Throws Fatal. */
  expression(extra: readonly string[] = []): Expr {
    if (++this.#depth > limits.depth)
      this.#tokens.fatal(`expression recursion limit exceeded: ${limits.depth}`, undefined)
    this.#tokens.checkBeginning(extra)
    const result = this.#conditional()
    this.#depth--
    return result
  }

  #conditional(): Expr {
    const condition = this.#disjunction()
    const question = this.#tokens.accept('?')
    if (!question) return condition
    const place = this.#node(question.position)
    const yes = this.#disjunction()
    this.#tokens.expect(':')
    return { ...place, kind: 'call', function: '_?_:_', arguments: [condition, yes, this.expression()] }
  }

  #disjunction(): Expr {
    const terms = [this.#conjunction()]
    const positions: number[] = []
    for (let token = this.#tokens.accept('||'); token; token = this.#tokens.accept('||')) {
      positions.push(token.position)
      terms.push(this.#conjunction())
    }
    return balanced(this.#ids, '_||_', terms, positions)
  }

  #conjunction(): Expr {
    const terms = [this.#relation()]
    const positions: number[] = []
    for (let token = this.#tokens.accept('&&'); token; token = this.#tokens.accept('&&')) {
      positions.push(token.position)
      terms.push(this.#relation())
    }
    return balanced(this.#ids, '_&&_', terms, positions)
  }

  #relation(): Expr {
    let left = this.#sum()
    for (let length = 1; this.#isOperator(relations, length); length++) left = this.#binary(left, () => this.#sum())
    return left
  }

  #sum(): Expr {
    let left = this.#product()
    for (let length = 1; this.#isOperator(sums, length); length++) left = this.#binary(left, () => this.#product())
    return left
  }

  #product(): Expr {
    let left = this.#unary()
    for (let length = 1; this.#isOperator(products, length); length++) left = this.#binary(left, () => this.#unary())
    return left
  }

  /**
   * Returns true if one of the operators is next. The number of operators of one precedence is limited, because each
   * deepens the tree.
   */
  #isOperator(operators: ReadonlySet<string>, length: number): boolean {
    const { current } = this.#tokens
    if (current.kind !== 'punctuation' || !operators.has(current.text)) return false
    if (length >= limits.depth) this.#tokens.fatal('max recursion depth exceeded', undefined)
    return true
  }

  #binary(left: Expr, operand: () => Expr): Expr {
    const operator = this.#tokens.take()
    const place = this.#node(operator.position)
    const name = operator.text === 'in' ? '@in' : `_${operator.text}_`
    return { ...place, kind: 'call', function: name, arguments: [left, operand()] }
  }

  #unary(): Expr {
    const tokens = this.#tokens
    tokens.checkBeginning()
    const first = tokens.current
    const operator = tokens.is('!') ? '!' : tokens.is('-') ? '-' : undefined
    if (operator === undefined) return this.#member()
    if (operator === '-' && (tokens.following.kind === 'int' || tokens.following.kind === 'float'))
      return this.#member()
    let count = 0
    while (tokens.accept(operator)) count++
    if (operator === '-' && !begins(tokens.current))
      tokens.issue("Syntax error: no viable alternative at input '-'", tokens.current.position)
    tokens.checkBeginning()
    const operand = this.#member()
    // Pairs cancel out.
    if (count % 2 === 0) return operand
    const name = operator === '!' ? '!_' : '-_'
    return { ...this.#node(first.position), kind: 'call', function: name, arguments: [operand] }
  }

  #member(): Expr {
    const tokens = this.#tokens
    let operand = this.#primary()
    for (let length = 1; ; length++) {
      if (length >= limits.depth) tokens.fatal('max recursion depth exceeded', undefined)
      const dot = tokens.accept('.')
      if (dot) {
        operand = this.#selection(operand, dot)
        continue
      }
      const bracket = tokens.accept('[')
      if (!bracket) return operand
      const optional = tokens.accept('?')
      const place = this.#node(bracket.position)
      const index = this.expression(optional ? [] : ["'?'"])
      tokens.expect(']')
      operand = { ...place, kind: 'call', function: optional ? '_[?_]' : '_[_]', arguments: [operand, index] }
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    const optional = this.#tokens.accept('?') !== undefined
    const name = this.#fieldAfterDot(optional)
    if (optional) {
      const place = this.#node(dot.position)
      const field: Expr = { ...this.#node(name.position), kind: 'literal', value: fieldName(name) }
      return { ...place, kind: 'call', function: '_?._', arguments: [operand, field] }
    }
    const open = name.kind === 'identifier' ? this.#tokens.accept('(') : undefined
    if (!open) return { ...this.#node(dot.position), kind: 'select', operand, field: fieldName(name), testOnly: false }
    const id = this.#ids.next()
    return this.#call(name.text, operand, this.#arguments(), open.position, id)
  }

  #fieldAfterDot(optional: boolean): Token {
    const name = this.#tokens.take()
    if (keywords.has(name.text))
      this.#tokens.fatal(`Syntax error: mismatched input '${name.text}' expecting IDENTIFIER`, name.position)
    if (name.kind === 'identifier' || name.kind === 'escaped') return name
    const expected = optional ? '{IDENTIFIER, ESC_IDENTIFIER}' : "{'?', IDENTIFIER, ESC_IDENTIFIER}"
    return this.#tokens.fatal(
      name.kind === 'end'
        ? `Syntax error: no viable alternative at input '.'`
        : `Syntax error: mismatched input '${name.text}' expecting ${expected}`,
      name.position,
    )
  }

  /** Parses arguments up to and including the closing parenthesis. */
  #arguments(): Expr[] {
    if (this.#tokens.accept(')')) return []
    const found = [this.expression(["')'"])]
    while (this.#tokens.accept(',')) found.push(this.expression())
    this.#tokens.expect(')')
    return found
  }

  #call(name: string, target: Expr | undefined, args: readonly Expr[], position: number, id: number): Expr {
    const key = { name, member: target !== undefined }
    const macro =
      this.#macros.get(macroKey({ ...key, arguments: args.length })) ??
      this.#macros.get(macroKey({ ...key, arguments: 'any' }))
    if (macro) {
      try {
        const expanded = macro.expand({ target, arguments: args }, astFactory(this.#ids, position))
        if (expanded) return expanded
      } catch (error) {
        if (!(error instanceof MacroError)) throw error
        this.#tokens.issue(error.message, error.at?.position ?? position)
      }
    }
    return { id, position, kind: 'call', function: name, target, arguments: args }
  }

  #primary(): Expr {
    const token = this.#tokens.take()
    switch (token.kind) {
      case 'identifier':
        return this.#named(token, '')
      case 'punctuation':
        return this.#punctuated(token)
      case 'end':
      case 'escaped':
        return this.#unexpected(token)
      default:
        return this.#literal(token, false)
    }
  }

  /** Parses what begins with punctuation: a group, a list, a map, an absolute name, or a negative number. */
  #punctuated(token: Token): Expr {
    const tokens = this.#tokens
    switch (token.text) {
      case '(': {
        const inner = this.expression()
        tokens.expect(')')
        return inner
      }
      case '[':
        return this.#list(token)
      case '{':
        return this.#map(token)
      case '.': {
        const name = tokens.take()
        if (name.kind === 'identifier') return this.#named(name, '.')
        return tokens.fatal(`Syntax error: mismatched input '${name.text}' expecting IDENTIFIER`, name.position)
      }
      case '-': {
        const { kind } = tokens.current
        return kind === 'int' || kind === 'float'
          ? this.#literal(tokens.take(), true, token.position)
          : this.#unexpected(token)
      }
      default:
        return this.#unexpected(token)
    }
  }

  #unexpected(token: Token): never {
    return this.#tokens.fatal(
      `Syntax error: mismatched input '${token.text}' expecting ${expecting([])}`,
      token.position,
    )
  }

  #literal(token: Token, negative: boolean, position = token.position): Expr {
    const read = literalValue(token, negative)
    if ('fault' in read) this.#tokens.issue(read.fault, position)
    return { ...this.#node(position), kind: 'literal', value: 'fault' in read ? null : read.value }
  }

  /** Parses what begins with a name: a keyword, a message, a call, or an identifier. `lead` is `.` or empty. */
  #named(token: Token, lead: string): Expr {
    const tokens = this.#tokens
    if (lead === '' && (token.text === 'true' || token.text === 'false'))
      return { ...this.#node(token.position), kind: 'literal', value: token.text === 'true' }
    if (lead === '' && token.text === 'null') return { ...this.#node(token.position), kind: 'literal', value: null }
    const name = lead + token.text
    const open = tokens.accept('(')
    if (!open && tokens.is('{')) return this.#message(name)
    const names = tokens.takeDottedNames()
    if (names !== undefined) return this.#message(name + names)
    if (reserved.has(token.text)) {
      tokens.issue(`reserved identifier: ${token.text}`, token.position)
      // A macro then rejects the argument, because it is not an identifier.
      if (!open) return { ...this.#node(token.position), kind: 'literal', value: null }
    }
    if (!open) return { ...this.#node(token.position), kind: 'identifier', name }
    const id = this.#ids.next()
    return this.#call(name, undefined, this.#arguments(), open.position, id)
  }

  #message(typeName: string): Expr {
    const tokens = this.#tokens
    const place = this.#node(tokens.take().position)
    const entries: FieldEntry[] = []
    while (!tokens.is('}')) {
      const optional = tokens.accept('?') !== undefined
      const name = tokens.take()
      if (name.kind !== 'identifier' && name.kind !== 'escaped')
        return tokens.fatal(
          `Syntax error: mismatched input '${name.text}' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}`,
          name.position,
        )
      const colon = tokens.expect(':')
      entries.push({ ...this.#node(colon.position), field: fieldName(name), value: this.expression(), optional })
      if (!tokens.accept(',')) break
    }
    tokens.expect('}', "{'}', ','}")
    return { ...place, kind: 'struct', typeName, entries }
  }

  #list(open: Token): Expr {
    const tokens = this.#tokens
    const place = this.#node(open.position)
    const elements: Expr[] = []
    const optional = new Set<number>()
    while (!tokens.is(']') && !(elements.length === 0 && this.#takeLoneComma(']'))) {
      if (tokens.accept('?')) optional.add(elements.length)
      elements.push(this.expression(elements.length === 0 ? ["']'", "','", "'?'"] : ["']'", "'?'"]))
      if (!tokens.accept(',')) break
    }
    tokens.expect(']', "{']', ','}")
    return { ...place, kind: 'list', elements, optional }
  }

  #map(open: Token): Expr {
    const tokens = this.#tokens
    const place = this.#node(open.position)
    const entries: MapEntry[] = []
    while (!tokens.is('}') && !(entries.length === 0 && this.#takeLoneComma('}'))) {
      const optional = tokens.accept('?') !== undefined
      const id = this.#ids.next()
      const key = this.expression(entries.length === 0 ? ["'}'", "','", "'?'"] : ["'}'", "'?'"])
      const colon = tokens.expect(':')
      entries.push({ id, position: colon.position, key, value: this.expression(), optional })
      if (!tokens.accept(',')) break
    }
    tokens.expect('}', "{'}', ','}")
    return { ...place, kind: 'map', entries }
  }

  /** Takes the comma of `[,]` and `{,}`, which are empty. */
  #takeLoneComma(close: string): boolean {
    if (!this.#tokens.is(',') || this.#tokens.following.text !== close) return false
    this.#tokens.take()
    return true
  }

  #node(position: number): { readonly id: number; readonly position: number } {
    return { id: this.#ids.next(), position }
  }
}

const fieldName = (token: Token): string => (token.kind === 'escaped' ? token.text.slice(1, -1) : token.text)
