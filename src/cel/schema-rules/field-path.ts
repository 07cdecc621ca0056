/** Converts a rule's fieldPath (`.spec.names['first']`) to the form of field errors. */
import type { StructuralSchema } from '../../machinery/structural-schema/index.ts'

const step = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y
const escapes: Readonly<Record<string, string>> = { a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** Returns `spec.names[first]`, or undefined if the schema does not have the field. */
export function normalizedFieldPath(path: string, root: StructuralSchema): string | undefined {
  let schema: StructuralSchema | undefined = root
  let normalized = ''
  step.lastIndex = 0
  for (let at = 0; at < path.length; at = step.lastIndex) {
    const found = step.exec(path)
    if (!found) return undefined
    const name =
      found[1] ?? (found[2] ?? '').replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
    const named: boolean = schema.properties !== undefined
    const others: StructuralSchema | undefined = typeof schema.others === 'object' ? schema.others : undefined
    schema = named ? schema.properties?.get(name) : others
    if (!schema) return undefined
    normalized += named ? `${normalized === '' ? '' : '.'}${name}` : `[${name}]`
  }
  return normalized === '' ? undefined : normalized
}
