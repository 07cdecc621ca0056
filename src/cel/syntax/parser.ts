/** A recursive descent parser of CEL with the messages of cel-go's (ANTLR's) parser. Stops at the first fatal error. */
import { type Macro, MacroError } from '../library.ts'
import type { Expr, FieldEntry, MapEntry } from './ast.ts'
import { astFactory, balanced, ids } from './factory.ts'
import type { Issue } from './issues.ts'
import { type Token, tokens } from './lexer.ts'
import { literalValue } from './literals.ts'

/** The limits of nesting levels and of the length in code points, as in cel-go. */
export const limits = { depth: 250, size: 100_000 } as const

export type Macros = ReadonlyMap<string, Macro>

/** Returns the key of a macro: its name, number of arguments, and whether it is a member. */
export const macroKey = (macro: Pick<Macro, 'name' | 'member' | 'arguments'>): string =>
  `${macro.name}:${macro.arguments === 'any' ? '*' : macro.arguments}:${macro.member === true}`

export type Parsed = { readonly expr: Expr } | { readonly issues: readonly Issue[] }

/** Parses `source` and expands macros. Returns the tree or the errors. */
export function parse(source: string, macros: Macros): Parsed {
  let size = 0
  for (const _ of source) size++
  if (size > limits.size)
    return {
      issues: [
        { message: `expression code point size exceeds limit: size: ${size}, limit ${limits.size}`, position: 0 },
      ],
    }
  const lexed = tokens(source)
  const issues = [...lexed.issues]
  try {
    const expr = parser(lexed.tokens, macros, issues)
    return issues.length > 0 ? { issues: sorted(issues) } : { expr }
  } catch (error) {
    if (!(error instanceof Fatal)) throw error
    return { issues: sorted(issues) }
  }
}

const sorted = (issues: Issue[]): Issue[] => issues.sort((a, b) => (a.position ?? -1) - (b.position ?? -1))

/** Stops parsing. The issue has been added already. */
class Fatal extends Error {}

const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
/** Names that are keywords, even after a dot. */
const keywords = new Set(['true', 'false', 'null', 'in'])
const relations = new Set(['==', '!=', '<', '<=', '>', '>=', 'in'])
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

/** Formats the expected tokens like ANTLR: in braces, in the order of the grammar. */
function expecting(extra: readonly string[]): string {
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  return `{${[...beginnings, ...extra].sort((a, b) => rank(a) - rank(b)).join(', ')}}`
}

function parser(all: readonly Token[], macros: Macros, issues: Issue[]): Expr {
  const counter = ids()
  let at = 0
  let depth = 0
  const current = (): Token => all[at] as Token
  const following = (): Token => all[Math.min(at + 1, all.length - 1)] as Token
  const is = (text: string): boolean => current().kind === 'punctuation' && current().text === text
  const take = (): Token => all[at < all.length - 1 ? at++ : at] as Token
  const accept = (text: string): Token | undefined => (is(text) ? take() : undefined)
  const issue = (message: string, position: number | undefined): void => {
    issues.push({ message, position })
  }
  const fatal = (message: string, position: number | undefined): never => {
    issue(message, position)
    throw new Fatal()
  }
  const node = (position: number) => ({ id: counter.next(), position })
  const begins = ({ kind, text }: Token): boolean =>
    kind === 'punctuation' ? '[{(.-!'.includes(text) : kind !== 'end' && kind !== 'escaped'

  /** Takes the token `text`. Like ANTLR, recovers from an extraneous token before it. */
  function expect(text: string, follows: (token: Token) => boolean = () => true, among = `'${text}'`): Token {
    if (is(text)) return take()
    const token = current()
    if (following().kind === 'punctuation' && following().text === text) {
      issue(`Syntax error: extraneous input '${token.text}' expecting ${among}`, token.position)
      take()
      return take()
    }
    const fits = text === ':' ? begins(token) : token.kind === 'end' || (token.kind === 'punctuation' && follows(token))
    if (among === `'${text}'` && fits) {
      issue(`Syntax error: missing '${text}' at '${token.text}'`, token.position)
      throw new Fatal()
    }
    return fatal(`Syntax error: mismatched input '${token.text}' expecting ${among}`, token.position)
  }

  /** Checks that an expression begins here. */
  function checkBeginning(extra: readonly string[] = []): void {
    const token = current()
    if (begins(token)) return
    if (begins(following()) && token.kind !== 'end') {
      issue(`Syntax error: extraneous input '${token.text}' expecting ${expecting(extra)}`, token.position)
      take()
      return
    }
    fatal(`Syntax error: mismatched input '${token.text}' expecting ${expecting(extra)}`, token.position)
  }

  function deeper<T>(inner: () => T): T {
    if (++depth > limits.depth) fatal(`expression recursion limit exceeded: ${limits.depth}`, undefined)
    const result = inner()
    depth--
    return result
  }

  /** Parses left-associative operators of one precedence. Their number is limited, because each deepens the tree. */
  function chain(operators: ReadonlySet<string>, operand: () => Expr): Expr {
    let left = operand()
    for (let length = 1; current().kind === 'punctuation' && operators.has(current().text); length++) {
      if (length >= limits.depth) fatal('max recursion depth exceeded', undefined)
      const operator = take()
      const place = node(operator.position)
      left = {
        ...place,
        kind: 'call',
        function: operator.text === 'in' ? '@in' : `_${operator.text}_`,
        arguments: [left, operand()],
      }
    }
    return left
  }

  function logical(operator: string, operand: () => Expr): Expr {
    const terms = [operand()]
    const positions: number[] = []
    for (let token = accept(operator); token; token = accept(operator)) {
      positions.push(token.position)
      terms.push(operand())
    }
    return balanced(counter, `_${operator}_`, terms, positions)
  }

  const products = new Set(['*', '/', '%'])
  const sums = new Set(['+', '-'])
  const product = (): Expr => chain(products, unary)
  const sum = (): Expr => chain(sums, product)
  const relation = (): Expr => chain(relations, sum)
  const conjunction = (): Expr => logical('&&', relation)
  const disjunction = (): Expr => logical('||', conjunction)

  function expression(extra: readonly string[] = []): Expr {
    return deeper(() => {
      checkBeginning(extra)
      const condition = disjunction()
      const question = accept('?')
      if (!question) return condition
      const place = node(question.position)
      const yes = disjunction()
      expect(':')
      return { ...place, kind: 'call', function: '_?_:_', arguments: [condition, yes, expression()] }
    })
  }

  function unary(): Expr {
    checkBeginning()
    const first = current()
    const operator = is('!') ? '!' : is('-') ? '-' : undefined
    if (operator === undefined) return member()
    if (operator === '-' && (following().kind === 'int' || following().kind === 'float')) return member()
    let count = 0
    while (accept(operator)) count++
    if (operator === '-' && !begins(current()))
      issue("Syntax error: no viable alternative at input '-'", current().position)
    checkBeginning()
    const operand = member()
    // Pairs cancel out.
    if (count % 2 === 0) return operand
    return { ...node(first.position), kind: 'call', function: operator === '!' ? '!_' : '-_', arguments: [operand] }
  }

  function member(): Expr {
    let operand = primary()
    for (let length = 1; ; length++) {
      if (length >= limits.depth) fatal('max recursion depth exceeded', undefined)
      const dot = accept('.')
      if (dot) {
        operand = selection(operand, dot)
        continue
      }
      const bracket = accept('[')
      if (!bracket) return operand
      const optional = accept('?')
      const place = node(bracket.position)
      const index = expression(optional ? [] : ["'?'"])
      expect(']')
      operand = { ...place, kind: 'call', function: optional ? '_[?_]' : '_[_]', arguments: [operand, index] }
    }
  }

  function selection(operand: Expr, dot: Token): Expr {
    const optional = accept('?')
    const name = take()
    if (keywords.has(name.text))
      fatal(`Syntax error: mismatched input '${name.text}' expecting IDENTIFIER`, name.position)
    if (name.kind !== 'identifier' && name.kind !== 'escaped') {
      const expected = optional ? '{IDENTIFIER, ESC_IDENTIFIER}' : "{'?', IDENTIFIER, ESC_IDENTIFIER}"
      return fatal(
        name.kind === 'end'
          ? `Syntax error: no viable alternative at input '.'`
          : `Syntax error: mismatched input '${name.text}' expecting ${expected}`,
        name.position,
      )
    }
    if (optional) {
      const place = node(dot.position)
      const field: Expr = { ...node(name.position), kind: 'literal', value: fieldName(name) }
      return { ...place, kind: 'call', function: '_?._', arguments: [operand, field] }
    }
    const open = name.kind === 'identifier' ? accept('(') : undefined
    if (!open) return { ...node(dot.position), kind: 'select', operand, field: fieldName(name), testOnly: false }
    const id = counter.next()
    return call(name.text, operand, expressions(')'), open.position, id)
  }

  /** Parses arguments up to and including `close`. */
  function expressions(close: string): Expr[] {
    if (accept(close)) return []
    const found = [expression([`'${close}'`])]
    while (accept(',')) found.push(expression())
    expect(close)
    return found
  }

  function call(name: string, target: Expr | undefined, args: readonly Expr[], position: number, id: number): Expr {
    const key = { name, member: target !== undefined }
    const macro =
      macros.get(macroKey({ ...key, arguments: args.length })) ?? macros.get(macroKey({ ...key, arguments: 'any' }))
    if (macro) {
      try {
        const expanded = macro.expand({ target, arguments: args }, astFactory(counter, position))
        if (expanded) return expanded
      } catch (error) {
        if (!(error instanceof MacroError)) throw error
        issue(error.message, error.at?.position ?? position)
      }
    }
    return { id, position, kind: 'call', function: name, target, arguments: args }
  }

  function primary(): Expr {
    const token = take()
    switch (token.kind) {
      case 'identifier':
        return named(token, '')
      case 'punctuation':
        break
      case 'end':
      case 'escaped':
        return fatal(`Syntax error: mismatched input '${token.text}' expecting ${expecting([])}`, token.position)
      default:
        return literal(token, false)
    }
    switch (token.text) {
      case '(': {
        const inner = expression()
        expect(')')
        return inner
      }
      case '[':
        return list(token)
      case '{':
        return map(token)
      case '.': {
        const name = take()
        if (name.kind !== 'identifier')
          return fatal(`Syntax error: mismatched input '${name.text}' expecting IDENTIFIER`, name.position)
        return named(name, '.')
      }
      case '-':
        if (current().kind === 'int' || current().kind === 'float') return literal(take(), true, token.position)
        return fatal(`Syntax error: mismatched input '-' expecting ${expecting([])}`, token.position)
      default:
        return fatal(`Syntax error: mismatched input '${token.text}' expecting ${expecting([])}`, token.position)
    }
  }

  function literal(token: Token, negative: boolean, position = token.position): Expr {
    const read = literalValue(token, negative)
    if ('fault' in read) issue(read.fault, position)
    return { ...node(position), kind: 'literal', value: 'fault' in read ? null : read.value }
  }

  function named(token: Token, lead: string): Expr {
    if (lead === '' && (token.text === 'true' || token.text === 'false'))
      return { ...node(token.position), kind: 'literal', value: token.text === 'true' }
    if (lead === '' && token.text === 'null') return { ...node(token.position), kind: 'literal', value: null }
    const open = accept('(')
    if (!open && is('{')) {
      const struct = message(lead + token.text)
      if (struct) return struct
    }
    const dotted = dottedMessage(lead + token.text)
    if (dotted) return dotted
    if (reserved.has(token.text)) {
      issue(`reserved identifier: ${token.text}`, token.position)
      // A macro then rejects the argument, because it is not an identifier.
      if (!open) return { ...node(token.position), kind: 'literal', value: null }
    }
    if (!open) return { ...node(token.position), kind: 'identifier', name: lead + token.text }
    const id = counter.next()
    return call(lead + token.text, undefined, expressions(')'), open.position, id)
  }

  /** Parses `a.b.C{…}` by looking ahead for names up to a brace. */
  function dottedMessage(first: string): Expr | undefined {
    let ahead = at
    let name = first
    while (all[ahead]?.text === '.' && all[ahead + 1]?.kind === 'identifier') {
      name += `.${all[ahead + 1]?.text}`
      ahead += 2
    }
    if (ahead === at || all[ahead]?.kind !== 'punctuation' || all[ahead]?.text !== '{') return undefined
    at = ahead
    return message(name)
  }

  function message(typeName: string): Expr {
    const open = take()
    const place = node(open.position)
    const entries: FieldEntry[] = []
    while (!is('}')) {
      const optional = accept('?') !== undefined
      const name = take()
      if (name.kind !== 'identifier' && name.kind !== 'escaped')
        return fatal(
          `Syntax error: mismatched input '${name.text}' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}`,
          name.position,
        )
      const colon = expect(':')
      entries.push({ ...node(colon.position), field: fieldName(name), value: expression(), optional })
      if (!accept(',')) break
    }
    expect('}', undefined, "{'}', ','}")
    return { ...place, kind: 'struct', typeName, entries }
  }

  function list(open: Token): Expr {
    const place = node(open.position)
    const elements: Expr[] = []
    const optional = new Set<number>()
    while (!is(']')) {
      if (is(',') && following().text === ']' && elements.length === 0) {
        take()
        break
      }
      if (accept('?')) optional.add(elements.length)
      elements.push(expression(elements.length === 0 ? ["']'", "','", "'?'"] : ["']'", "'?'"]))
      if (!accept(',')) break
    }
    expect(']', undefined, "{']', ','}")
    return { ...place, kind: 'list', elements, optional }
  }

  function map(open: Token): Expr {
    const place = node(open.position)
    const entries: MapEntry[] = []
    while (!is('}')) {
      if (is(',') && following().text === '}' && entries.length === 0) {
        take()
        break
      }
      const optional = accept('?') !== undefined
      const id = counter.next()
      const key = expression(entries.length === 0 ? ["'}'", "','", "'?'"] : ["'}'", "'?'"])
      const colon = expect(':')
      entries.push({ id, position: colon.position, key, value: expression(), optional })
      if (!accept(',')) break
    }
    expect('}', undefined, "{'}', ','}")
    return { ...place, kind: 'map', entries }
  }

  const expr = expression()
  const rest = current()
  if (rest.kind !== 'end')
    fatal(
      `Syntax error: ${following().kind === 'end' ? 'extraneous' : 'mismatched'} input '${rest.text}' expecting <EOF>`,
      rest.position,
    )
  return expr
}

const fieldName = (token: Token): string => (token.kind === 'escaped' ? token.text.slice(1, -1) : token.text)
