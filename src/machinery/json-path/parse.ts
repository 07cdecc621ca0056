/**
 * Parses JSONPath in the syntax of Kubernetes' clients: `.spec.a`, `['b.c']`, `[0]`, `[1:3:2]`, `[*]`, `..name`,
 * `[?(@.type=="Ready")]`, `['a','b']`.
 */

export type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'descend' }
  | { readonly kind: 'slice'; readonly from?: number; readonly to?: number; readonly by: number }
  | { readonly kind: 'index'; readonly at: number }
  | { readonly kind: 'union'; readonly of: readonly (readonly Step[])[] }
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator?: Operator; readonly right?: Operand }

export type Operator = '==' | '!=' | '<' | '>' | '<=' | '>='
export type Operand = { readonly literal: string | number | boolean } | { readonly path: readonly Step[] }

/** The text is not a JSONPath. The message has the reason. */
export class JsonPathError extends Error {}

const operators: readonly Operator[] = ['==', '!=', '<=', '>=', '<', '>']
const endOfField = /[.[\]{}\s()=!<>,|&]/

/** Parses a path that begins with `.`, `[` or `$`. Throws JsonPathError. */
export function parseSteps(text: string): Step[] {
  const steps: Step[] = []
  let at = text.startsWith('$') || text.startsWith('@') ? 1 : 0
  while (at < text.length) {
    if (text.startsWith('..', at)) {
      steps.push({ kind: 'descend' })
      at += text[at + 2] === '[' ? 2 : 1
    } else if (text[at] === '.') {
      const { name, end } = fieldAt(text, at + 1)
      // A dot alone is the object itself.
      if (name === '' && end < text.length && text[end] !== '[')
        throw new JsonPathError(`unexpected ${JSON.stringify(text[end])} in path ${JSON.stringify(text)}`)
      if (name === '*') steps.push({ kind: 'all' })
      else if (name !== '') steps.push({ kind: 'field', name })
      at = end
    } else if (text[at] === '[') {
      const end = closing(text, at)
      steps.push(bracket(text.slice(at + 1, end).trim()))
      at = end + 1
    } else throw new JsonPathError(`unexpected ${JSON.stringify(text[at])} in path ${JSON.stringify(text)}`)
  }
  return steps
}

/** Reads a name up to its end. A backslash escapes the next character. */
function fieldAt(text: string, start: number): { readonly name: string; readonly end: number } {
  let name = ''
  let end = start
  for (; end < text.length && !endOfField.test(text[end]!); end++) {
    if (text[end] === '\\' && end + 1 < text.length) end++
    name += text[end]
  }
  return { name, end }
}

/** Yields the positions of characters outside of quotes. A backslash in quotes escapes the next character. */
function* unquoted(text: string, start = 0): Generator<number> {
  let quote = ''
  for (let at = start; at < text.length; at++) {
    const c = text[at]!
    if (quote) {
      if (c === '\\') at++
      else if (c === quote) quote = ''
    } else if (c === '"' || c === "'") quote = c
    else yield at
  }
}

/** Returns the position of the bracket that closes the one at `start`. Brackets in quotes are ignored. */
function closing(text: string, start: number): number {
  let depth = 0
  for (const at of unquoted(text, start)) {
    if (text[at] === '[') depth++
    else if (text[at] === ']' && --depth === 0) return at
  }
  throw new JsonPathError('unterminated array')
}

function bracket(inside: string): Step {
  if (inside === '*') return { kind: 'all' }
  if (inside.startsWith('?(') && inside.endsWith(')')) return filter(inside.slice(2, -1))
  const parts = split(inside)
  if (parts.length > 1) return { kind: 'union', of: parts.map((part) => [bracket(part)]) }
  const quoted = /^(['"])(.*)\1$/s.exec(inside)
  if (quoted) return { kind: 'field', name: quoted[2]!.replace(/\\(.)/g, '$1') }
  const slice = /^(-?\d+)?\s*:\s*(-?\d+)?(?:\s*:\s*(-?\d+)?)?$/.exec(inside)
  if (slice) return { kind: 'slice', from: numberOf(slice[1]), to: numberOf(slice[2]), by: numberOf(slice[3]) ?? 1 }
  if (/^-?\d+$/.test(inside)) return { kind: 'index', at: Number(inside) }
  throw new JsonPathError(`invalid array index ${inside}`)
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

/** Splits at commas outside of quotes. */
function split(text: string): string[] {
  const parts: string[] = []
  let from = 0
  for (const at of unquoted(text)) {
    if (text[at] !== ',') continue
    parts.push(text.slice(from, at).trim())
    from = at + 1
  }
  return [...parts, text.slice(from).trim()]
}

function filter(text: string): Step {
  const found = operatorIn(text)
  if (!found) return { kind: 'filter', left: operand(text.trim()) }
  const { operator, at } = found
  return {
    kind: 'filter',
    left: operand(text.slice(0, at).trim()),
    operator,
    right: operand(text.slice(at + operator.length).trim()),
  }
}

function operatorIn(text: string): { readonly operator: Operator; readonly at: number } | undefined {
  for (const at of unquoted(text)) {
    const operator = operators.find((one) => text.startsWith(one, at))
    if (operator) return { operator, at }
  }
  return undefined
}

function operand(text: string): Operand {
  const quoted = /^(['"])(.*)\1$/s.exec(text)
  if (quoted) return { literal: quoted[2]!.replace(/\\(.)/g, '$1') }
  if (/^-?\d+(\.\d+)?$/.test(text)) return { literal: Number(text) }
  if (text === 'true' || text === 'false') return { literal: text === 'true' }
  if (text.startsWith('@') || text.startsWith('.') || text.startsWith('$')) return { path: parseSteps(text) }
  throw new JsonPathError(`unrecognized identifier ${text}`)
}
