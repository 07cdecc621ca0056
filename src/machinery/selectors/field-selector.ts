/**
 * Field selectors (`fieldSelector=metadata.name=x,status.phase!=Running`) with the grammar, matching and error messages
 * of upstream (k8s.io/apimachinery `fields`). The supported fields of a kind are passed in.
 */
import { badRequest, type StatusError } from '../status-error.ts'

export interface FieldRequirement {
  readonly field: string
  readonly equal: boolean
  readonly value: string
}

export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[]
  /** Returns true if an object matches. `field` returns the value of a field; undefined counts as empty. */
  readonly matches: (field: (name: string) => string | undefined) => boolean
}

/** Parses terms with `=`, `==` and `!=`, joined by commas; `\` escapes `,`, `=` and itself. Throws 400. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue
    const operator = findOperator(term)
    if (!operator) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
    requirements.push({
      field: term.slice(0, operator.at),
      equal: operator.text !== '!=',
      value: unescapeValue(term.slice(operator.at + operator.text.length)),
    })
  }
  return {
    requirements,
    matches: (field) =>
      requirements.every(({ field: name, equal, value }) => ((field(name) ?? '') === value) === equal),
  }
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...terms, text.slice(start)]
}

function findOperator(term: string): { at: number; text: '!=' | '==' | '=' } | undefined {
  for (let at = 0; at < term.length; at++) {
    if (term[at] === '\\') {
      at++
      continue
    }
    const text = (['!=', '==', '='] as const).find((operator) => term.startsWith(operator, at))
    if (text) return { at, text }
  }
  return undefined
}

function unescapeValue(value: string): string {
  if (!/[\\,=]/.test(value)) return value
  let result = ''
  for (let at = 0; at < value.length; at++) {
    let character = value[at] ?? ''
    if (character === ',' || character === '=')
      throw badRequest(`invalid field selector: unescaped character in value: ${character}`)
    if (character === '\\') {
      character = value[++at] ?? ''
      if (character !== '\\' && character !== ',' && character !== '=')
        throw badRequest(`invalid field selector: invalid escape sequence: \\${character}`)
    }
    result += character
  }
  return result
}

/**
 * Returns the error for the first field that the kind does not support. `own` are the kind's own fields. Without them
 * only name and namespace are supported, for which upstream has another message.
 */
export function unknownField(
  { requirements }: FieldSelector,
  own: Readonly<Record<string, unknown>> | undefined,
): StatusError | undefined {
  const unknown = requirements.find(
    ({ field }) => field !== 'metadata.name' && field !== 'metadata.namespace' && !(own && Object.hasOwn(own, field)),
  )
  if (!unknown) return undefined
  return badRequest(
    own
      ? `field label not supported: ${unknown.field}`
      : `${JSON.stringify(unknown.field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  )
}

/** Returns the name that the selector requires, if any. Such lists are authorized as a request for this name. */
export function selectedName({ requirements }: FieldSelector): string | undefined {
  return requirements.find(({ field, equal }) => equal && field === 'metadata.name')?.value
}
