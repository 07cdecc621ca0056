/** Parses the text form of label selectors for `label-selector.ts`. */

import { badRequest } from '../status-error.ts'
import { labelValue, qualifiedName } from '../validation/names.ts'
import type { Operator, Requirement } from './requirement.ts'

const symbols = ['!=', '==', '=', '!', '(', ')', ',', '>', '<'] as const
type Symbol = (typeof symbols)[number]
type TokenKind = Symbol | 'in' | 'notin' | 'identifier' | 'end'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const end: Token = { kind: 'end', text: '' }
const word = /[^\s=!(),<>]+/y
const integer = /^[+-]?\d+$/

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at] ?? '')) {
      at++
      continue
    }
    const symbol = symbols.find((candidate) => text.startsWith(candidate, at))
    word.lastIndex = at
    const literal = symbol ?? word.exec(text)?.[0] ?? ''
    tokens.push({ kind: symbol ?? (literal === 'in' || literal === 'notin' ? literal : 'identifier'), text: literal })
    at += literal.length
  }
  return tokens
}

const wrong = (message: string) => badRequest(`unable to parse requirement: ${message}`)

/** Parses the requirements of a selector, in the order of the text. Throws 400 with upstream's message. */
export function parseRequirements(text: string): Requirement[] {
  const tokens = tokensOf(text)
  const requirements: Requirement[] = []
  let at = 0
  /** `in` and `notin` are identifiers if they are keys or values. */
  const plain = (token: Token): Token =>
    token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token
  const peek = (): Token => plain(tokens[at] ?? end)
  const take = (): Token => plain(tokens[at++] ?? end)

  for (;;) {
    const next = peek()
    if (next.kind === 'end') return requirements
    if (next.kind !== 'identifier' && next.kind !== '!')
      throw badRequest(`found '${next.text}', expected: !, identifier, or 'end of string'`)
    requirements.push(requirement())
    const after = take()
    if (after.kind === 'end') return requirements
    if (after.kind !== ',') throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`)
    const following = peek()
    if (following.kind !== 'identifier' && following.kind !== '!')
      throw badRequest(`found '${following.text}', expected: identifier after ','`)
  }

  function requirement(): Requirement {
    const absent = peek().kind === '!'
    if (absent) at++
    const { kind, text: key } = take()
    if (kind !== 'identifier') throw wrong(`found '${key}', expected: identifier`)
    const keyErrors = qualifiedName(key)
    if (keyErrors.length > 0) throw wrong(`<nil>: Invalid value: ${JSON.stringify(key)}: ${keyErrors.join('; ')}`)
    if (absent) return { key, operator: '!', values: [] }
    const following = peek().kind
    if (following === 'end' || following === ',') return { key, operator: 'exists', values: [] }
    const operator = operatorHere()
    const values = operator === 'in' || operator === 'notin' ? valueList() : [exactValue()]
    const sorted = [...new Set(values)].sort()
    checkValues(key, operator, sorted)
    return { key, operator, values: sorted }
  }

  function operatorHere(): Operator {
    const { kind, text: literal } = tokens[at++] ?? end
    if (
      kind === 'in' ||
      kind === 'notin' ||
      kind === '=' ||
      kind === '==' ||
      kind === '!=' ||
      kind === '>' ||
      kind === '<'
    )
      return kind
    throw wrong(`found '${literal}', expected: in, notin, =, ==, !=, gt, lt`)
  }

  function exactValue(): string {
    const next = peek().kind
    if (next === 'end' || next === ',') return ''
    const { kind, text: literal } = take()
    if (kind !== 'identifier') throw wrong(`found '${literal}', expected: identifier`)
    return literal
  }

  /** Parses `(a, b)`. A missing value between commas is the empty value. */
  function valueList(): string[] {
    const open = take()
    if (open.kind !== '(') throw wrong(`found '${open.text}' expected: '('`)
    const first = peek()
    if (first.kind !== 'identifier' && first.kind !== ',' && first.kind !== ')')
      throw wrong(`found '${first.text}', expected: ',', ')' or identifier`)
    const values: string[] = []
    let needsValue = true
    for (;;) {
      const { kind, text: literal } = take()
      if (kind === 'identifier' && needsValue) {
        values.push(literal)
        needsValue = false
        const next = peek()
        if (next.kind !== ',' && next.kind !== ')') throw wrong(`found '${next.text}', expected: ',' or ')'`)
      } else if (kind === ',') {
        if (needsValue) values.push('')
        needsValue = true
      } else if (kind === ')') {
        if (needsValue) values.push('')
        return values
      } else throw wrong(`found '${literal}', expected: ',', or identifier`)
    }
  }
}

/** Checks that the values are valid for the operator. Throws 400 with upstream's message. */
function checkValues(key: string, operator: Operator, values: readonly string[]): void {
  const errors: string[] = []
  if (operator === '>' || operator === '<')
    values.forEach((value, index) => {
      if (!integer.test(value))
        errors.push(
          `values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must ` +
            'be an integer',
        )
    })
  values.forEach((value, index) => {
    const messages = labelValue(value)
    if (messages.length > 0)
      errors.push(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${messages.join('; ')}`)
  })
  if (errors.length > 0) throw wrong(errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`)
}
