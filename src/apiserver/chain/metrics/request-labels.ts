/**
 * The labels of request metrics. They only have values that the server knows: clients could create any number of series
 * otherwise.
 */
import type { ResourceDefinition } from '../../../api/resource.ts'
import type { Request } from '../../http/exchange.ts'
import { applyType } from '../../request/bodies/read-applied.ts'

/** Finds the resource that is served with a group, version and plural. */
export type FindResource = (group: string, version: string, plural: string) => ResourceDefinition | undefined

/** Labels for the target of a request. */
export const targetLabels = ['group', 'version', 'resource', 'subresource', 'scope', 'component']

/** The label value for each verb. */
const verbNames: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
])
/** Subresources that are connections to something else. */
const connections: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** The method, except for requests that it does not identify: lists, watches, applies and connections. */
export function verbOf(request: Request): string {
  const { verb, isResourceRequest, subresource } = request.info
  if (!isResourceRequest) return request.method
  if (connections.has(subresource)) return 'CONNECT'
  if (verb === 'patch' && request.header('content-type') === applyType) return 'APPLY'
  return verbNames.get(verb) ?? verb.toUpperCase()
}

const verbs: ReadonlySet<string> = new Set([...verbNames.values(), 'APPLY', 'CONNECT', 'HEAD', 'OPTIONS', 'PROXY'])
export const shownVerb = (verb: string): string => (verbs.has(verb) ? verb : 'other')

export function scopeOf({ info: { isResourceRequest, verb, name, namespace } }: Request): string {
  if (!isResourceRequest) return ''
  if (verb === 'create' || (name && verb !== 'list' && verb !== 'watch')) return 'resource'
  return namespace ? 'namespace' : 'cluster'
}

/** The definition of the requested resource; undefined for an unknown one. */
export const definitionOf = ({ info }: Request, find: FindResource): ResourceDefinition | undefined =>
  info.isResourceRequest ? find(info.group, info.version, info.resource) : undefined

const nothing = { group: '', version: '', plural: '' }

/** The values of `targetLabels`. */
export function targetOf(request: Request, definition: ResourceDefinition | undefined): readonly string[] {
  const { subresource } = request.info
  const { group, version, plural } = definition ?? nothing
  return [
    group,
    version,
    plural,
    definition && subresource && isSubresource(definition, subresource) ? subresource : '',
    scopeOf(request),
    'apiserver',
  ]
}

const isSubresource = (
  { subresources: { status, scale, special = [] } = {} }: ResourceDefinition,
  name: string,
): boolean =>
  (name === 'status' && status === true) ||
  (name === 'scale' && scale !== undefined) ||
  special.some((one) => one.name === name)
