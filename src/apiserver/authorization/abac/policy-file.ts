/**
 * Policy files: one JSON object per line; empty lines and lines that begin with `#` are skipped. Lines without a
 * version have the original form, in which a missing field means everything.
 */
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { Policy } from './policy.ts'

const apiVersion = 'abac.authorization.kubernetes.io/v1beta1'
const authenticated = 'system:authenticated'

type Fields = Readonly<Record<string, unknown>>

/** Throws an ExplainedError that names the invalid line. */
export function parsePolicies(text: string, path: string): readonly Policy[] {
  return text.split('\n').flatMap((line, index) => {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    try {
      return [parsePolicy(trimmed)]
    } catch (error) {
      throw new ExplainedError(
        `error reading policy file ${path}, line ${index + 1}: ${line}: ` +
          `${error instanceof Error ? error.message : error}`,
      )
    }
  })
}

/** The number of lines without a version. */
export const unversionedLines = (text: string): number =>
  text.split('\n').filter((line) => line.trim().startsWith('{') && !line.includes('"apiVersion"')).length

function parsePolicy(line: string): Policy {
  const fields = objectOf(parse(line), 'Policy')
  const version = text(fields, 'apiVersion')
  const kind = text(fields, 'kind')
  if (!version || !kind) return unversioned(fields)
  if (version !== apiVersion || kind !== 'Policy')
    throw new Error(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`)
  return versioned(objectOf(fields.spec ?? {}, 'PolicySpec'))
}

function versioned(spec: Fields): Policy {
  const policy = common(spec)
  return {
    ...policy,
    // A star means everybody who is known.
    group: policy.user === '*' || policy.group === '*' ? authenticated : policy.group,
    apiGroup: text(spec, 'apiGroup'),
    nonResourcePath: text(spec, 'nonResourcePath'),
  }
}

function unversioned(fields: Fields): Policy {
  const { user, group, readonly, resource, namespace } = common(fields)
  const isForAll = (!user && !group) || user === '*' || group === '*'
  return {
    user,
    group: isForAll ? authenticated : group,
    readonly,
    apiGroup: '*',
    resource: resource || '*',
    namespace: namespace || '*',
    nonResourcePath: resource || namespace ? '' : '*',
  }
}

const common = (fields: Fields) => ({
  user: text(fields, 'user'),
  group: text(fields, 'group'),
  readonly: flag(fields, 'readonly'),
  resource: text(fields, 'resource'),
  namespace: text(fields, 'namespace'),
})

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : error}`)
  }
}

function objectOf(value: unknown, type: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Error(
    `json: cannot unmarshal ${Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value} into Go ` +
      `value of type v1beta1.${type}`,
  )
}

function text(fields: Fields, name: string): string {
  const value = Object.hasOwn(fields, name) ? (fields[name] ?? '') : ''
  if (typeof value === 'string') return value
  throw new Error(`json: cannot unmarshal ${typeof value} into Go struct field PolicySpec.${name} of type string`)
}

function flag(fields: Fields, name: string): boolean {
  const value = Object.hasOwn(fields, name) ? (fields[name] ?? false) : false
  if (typeof value === 'boolean') return value
  throw new Error(`json: cannot unmarshal ${typeof value} into Go struct field PolicySpec.${name} of type bool`)
}
