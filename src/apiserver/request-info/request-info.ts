/**
 * The target of a request, derived from its method, path and query alone.
 * Rules: kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
 */
import { own } from '../../lib/own.ts'
import { parseFieldSelector, selectedName } from '../../machinery/selectors/field-selector.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { pathSegment } from '../../machinery/validation/names.ts'

export interface RequestInfo {
  readonly isResourceRequest: boolean
  readonly path: string
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the method in lower case for
   * other paths.
   */
  readonly verb: string
  /** `api`, `apis`, or empty. */
  readonly prefix: string
  readonly group: string
  readonly version: string
  /** Empty for cluster-wide requests. */
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The path segments after the subresource (`/proxy/…`). */
  readonly rest: readonly string[]
}

const nothing: readonly string[] = []

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const other = (method: string, path: string, prefix = '', group = '', version = ''): RequestInfo => ({
  isResourceRequest: false,
  path,
  verb: method.toLowerCase(),
  prefix,
  group,
  version,
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  rest: [],
})

/** `watch` is on for any value but `false` and `0`; `?watch` alone counts too. */
export const wantsWatch = (query: URLSearchParams): boolean => {
  const value = query.get('watch')
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The name that a field selector requires; empty if there is none, or it is no valid name. */
function nameIn(fields: string): string {
  try {
    const name = selectedName(parseFieldSelector(fields)) ?? ''
    return pathSegment(name).length === 0 ? name : ''
  } catch (error) {
    // The list itself reports the error.
    if (error instanceof StatusError) return ''
    throw error
  }
}

/** Parses a request. Paths that are not under a group version are non-resource requests. */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const segments = path.split('/')
  if (segments.at(-1) === '') segments.pop()
  segments.shift()
  const parts = path.includes('%') ? segments.map(decode) : segments
  const prefix = parts[0]
  const core = prefix === 'api'
  if (!core && prefix !== 'apis') return other(method, path)
  const group = core ? '' : (parts[1] ?? '')
  const version = (core ? parts[1] : parts[2]) ?? ''
  let i = core ? 2 : 3
  if (parts.length <= i) return other(method, path, prefix, group, version)

  let verb = own(verbs, method) ?? ''
  let watchPath = false
  if (parts[i] === 'watch' || parts[i] === 'proxy') {
    if (parts[i] === 'watch') watchPath = true
    else verb = 'proxy'
    if (parts.length <= ++i) return other(method, path, prefix, group, version)
  }

  let namespace = ''
  if (parts[i] === 'namespaces' && parts.length > i + 1) {
    namespace = parts[i + 1] ?? ''
    // namespaces/NAME, /NAME/status and /NAME/finalize refer to the namespace itself
    const next = parts[i + 2]
    if (next !== undefined && next !== 'status' && next !== 'finalize') i += 2
  }
  const resource = parts[i] ?? ''
  let name = parts[i + 1] ?? ''
  // Old proxy paths have no subresource: the rest of the path belongs to the backend.
  const subresource = verb === 'proxy' ? '' : (parts[i + 2] ?? '')

  if (watchPath) verb = 'watch'
  else if (!name && verb === 'get') {
    verb = wantsWatch(query) ? 'watch' : 'list'
    // A list of a single object by name is authorized as that object.
    const fields = query.get('fieldSelector')
    if (fields?.includes('metadata.name')) name = nameIn(fields)
  } else if (!name && verb === 'delete') verb = 'deletecollection'
  return {
    isResourceRequest: true,
    path,
    verb,
    prefix: prefix!,
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
    rest: parts.length > i + 3 ? parts.slice(i + 3) : nothing,
  }
}
