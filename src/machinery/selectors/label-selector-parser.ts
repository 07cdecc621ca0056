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
export const parseRequirements = (text: string): Requirement[] => new Parser(tokensOf(text)).requirements()

/** A recursive-descent parser with one method per production. */
class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  /** `REQUIREMENT,REQUIREMENT,…`, or nothing. */
  requirements(): Requirement[] {
    const requirements: Requirement[] = []
    const first = this.#peek()
    if (first.kind === 'end') return requirements
    if (!startsRequirement(first))
      throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`)
    for (;;) {
      requirements.push(this.#requirement())
      const after = this.#take()
      if (after.kind === 'end') return requirements
      if (after.kind !== ',') throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`)
      const next = this.#peek()
      if (!startsRequirement(next)) throw badRequest(`found '${next.text}', expected: identifier after ','`)
    }
  }

  /** `KEY`, `!KEY`, `KEY OPERATOR VALUE`, or `KEY in (VALUES)`. */
  #requirement(): Requirement {
    const isNegated = this.#peek().kind === '!'
    if (isNegated) this.#at++
    const key = this.#key()
    if (isNegated) return { key, operator: '!', values: [] }
    const next = this.#peek().kind
    if (next === 'end' || next === ',') return { key, operator: 'exists', values: [] }
    const operator = this.#operator()
    const values = operator === 'in' || operator === 'notin' ? this.#valueList() : [this.#value()]
    const sorted = [...new Set(values)].sort()
    checkValues(key, operator, sorted)
    return { key, operator, values: sorted }
  }

  #key(): string {
    const { kind, text: key } = this.#take()
    if (kind !== 'identifier') throw wrong(`found '${key}', expected: identifier`)
    const faults = qualifiedName(key)
    if (faults.length > 0) throw wrong(`<nil>: Invalid value: ${JSON.stringify(key)}: ${faults.join('; ')}`)
    return key
  }

  #operator(): Operator {
    const { kind, text } = this.#tokens[this.#at++] ?? end
    switch (kind) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
      case '>':
      case '<':
        return kind
      default:
        throw wrong(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  /** A missing value is the empty value. */
  #value(): string {
    const next = this.#peek().kind
    if (next === 'end' || next === ',') return ''
    const { kind, text } = this.#take()
    if (kind !== 'identifier') throw wrong(`found '${text}', expected: identifier`)
    return text
  }

  /** `(VALUE,VALUE,…)`. A missing value between commas is the empty value. */
  #valueList(): string[] {
    const open = this.#take()
    if (open.kind !== '(') throw wrong(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.kind !== 'identifier' && first.kind !== ',' && first.kind !== ')')
      throw wrong(`found '${first.text}', expected: ',', ')' or identifier`)
    const values: string[] = []
    let needsValue = true
    for (;;) {
      const { kind, text } = this.#take()
      if (kind === 'identifier' && needsValue) {
        values.push(text)
        needsValue = false
        const next = this.#peek()
        if (next.kind !== ',' && next.kind !== ')') throw wrong(`found '${next.text}', expected: ',' or ')'`)
      } else if (kind === ',') {
        if (needsValue) values.push('')
        needsValue = true
      } else if (kind === ')') {
        if (needsValue) values.push('')
        return values
      } else throw wrong(`found '${text}', expected: ',', or identifier`)
    }
  }

  #peek(): Token {
    return asOperand(this.#tokens[this.#at] ?? end)
  }

  #take(): Token {
    return asOperand(this.#tokens[this.#at++] ?? end)
  }
}

/** Outside of the operator's place, `in` and `notin` are identifiers. */
const asOperand = (token: Token): Token =>
  token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token

const startsRequirement = ({ kind }: Token): boolean => kind === 'identifier' || kind === '!'

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
