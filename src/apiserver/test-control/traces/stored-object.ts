/** Reads stored objects for traces. */
import { allResources } from '../../../api/registry.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import type { Redaction } from './redaction.ts'
import type { TracedObject } from './trace-data.ts'

const maxObjectBytes = 64 * 1024

/** The first group of Events is the core group: the other one serves the same objects. */
const known = new Map(
  allResources.map(({ group, plural, storagePath }) => [storagePath ?? plural, { group, plural }] as const).reverse(),
)

/** The parts of `/registry/PATH/NAMESPACE/NAME`. */
interface StoredName {
  readonly group: string
  readonly resource: string
  /** `NAMESPACE/NAME`, or the name. */
  readonly rest: string
}

/** Returns undefined for keys that are no objects of the API, such as the ranges of addresses. */
function nameOf(key: string): StoredName | undefined {
  const parts = key.split('/').slice(2)
  for (const length of [2, 1]) {
    const found = known.get(parts.slice(0, length).join('/'))
    const rest = parts.slice(length).join('/')
    if (found && rest) return { group: found.group, resource: found.plural, rest }
  }
  const [group = '', resource = '', ...rest] = parts
  return group.includes('.') && rest.length > 0 ? { group, resource, rest: rest.join('/') } : undefined
}

/** Returns undefined for values that are no objects of the API. */
export function storedObject(
  key: string,
  value: Buffer | undefined,
  revision: number,
  redaction: Redaction,
): TracedObject | undefined {
  const found = nameOf(key)
  if (!found) return undefined
  const { group, resource, rest } = found
  const at = rest.indexOf('/')
  const named = { group, resource, namespace: at < 0 ? '' : rest.slice(0, at), name: rest.slice(at + 1), revision }
  if (!value) return named
  if (value.length > maxObjectBytes)
    return { ...named, omitted: `It has ${value.length} bytes; the limit is ${maxObjectBytes}.` }
  try {
    return { ...named, object: redaction.value(parseJson(value.toString()), group === '' && resource === 'secrets') }
  } catch {
    return { ...named, omitted: 'It is stored encrypted, or not as JSON.' }
  }
}
