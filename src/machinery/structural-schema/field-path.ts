/** Paths to fields of a schema: `.spec.names['first']`. */
import { othersOf, propertyOf, type SchemaSource } from './source.ts'

export interface FieldPathTarget {
  readonly names: readonly string[]
  readonly schema: SchemaSource
}

/** Returns the schema at a path, or the reason as a string if the path is invalid. */
export function fieldPathTarget(path: string, root: SchemaSource, arrayNotation = true): FieldPathTarget | string {
  const tokens = path.match(/[.[\]]|[^.[\]]+/g) ?? []
  const names: string[] = []
  let schema: SchemaSource | undefined = root
  let at = 0
  /** Descends to a member. Returns the error, if any. */
  const enter = (name: string): string | undefined => {
    const named: boolean = schema?.properties !== undefined && Object.keys(schema.properties).length > 0
    schema = schema && (named ? propertyOf(schema, name) : othersOf(schema))
    names.push(name)
    return schema ? undefined : 'does not refer to a valid field'
  }
  while (at < tokens.length) {
    const token = tokens[at++]!
    let fault: string | undefined
    if (token === '.') fault = at < tokens.length ? enter(tokens[at++]!) : 'unexpected end of JSON path'
    else if (token === '[') {
      if (!arrayNotation) return 'array notation is not allowed'
      const quoted = quotedName(tokens, at)
      if (typeof quoted === 'string') return quoted
      fault = enter(quoted.name)
      at = quoted.next
      if (!fault && tokens[at] !== ']')
        fault = at < tokens.length ? `expected ] but got ${tokens[at]}` : 'unexpected end of JSON path'
      at++
    } else fault = `expected [ or . but got: ${token}`
    if (fault) return fault
  }
  return schema ? { names, schema } : 'does not refer to a valid field'
}

/** `'a.b'`: dots and brackets are part of a quoted name. */
function quotedName(
  tokens: readonly string[],
  from: number,
): { readonly name: string; readonly next: number } | string {
  if (from >= tokens.length) return 'unexpected end of JSON path'
  let text = ''
  for (let at = from; at < tokens.length; at++) {
    text += tokens[at]
    if (text.length > 1 && text.startsWith("'") && /[^\\]'$/.test(text))
      return { name: text.slice(1, -1).replaceAll("\\'", "'"), next: at + 1 }
    if (!text.startsWith("'")) break
  }
  return `expected single quoted string but got ${text}`
}
