/**
 * Field selectors (`fieldSelector=metadata.name=x,status.phase!=Running`): grammar, matching and the words of
 * refusal of upstream (k8s.io/apimachinery `fields`). Which fields a kind knows is passed in.
 */
import { badRequest, type StatusError } from '../status-error.ts'

export interface FieldRequirement {
  readonly field: string
  readonly equal: boolean
  readonly value: string
}

export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[]
  /** `field` gives the value of a field of the object; a field without a value is empty. */
  readonly matches: (field: (name: string) => string | undefined) => boolean
}

/** The selector of a text; `=`, `==` and `!=`, joined by commas; `\` escapes `,`, `=` and itself. Throws a 400. */
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

/** Escapes a value so that it can stand in a field selector. */
export const escapeFieldValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&')

/**
 * The refusal of the first field that the kind does not know. `own` are the kind's own fields: without them the kind
 * knows name and namespace alone, and upstream says so in other words.
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

/** The name that the selector asks for, if it asks for exactly one: such lists are authorized as a request for it. */
export function selectedName({ requirements }: FieldSelector): string | undefined {
  return requirements.find(({ field, equal }) => equal && field === 'metadata.name')?.value
}
