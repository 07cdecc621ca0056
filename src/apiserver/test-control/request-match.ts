/** Selects requests by verb, resource, name and user: for faults, and for watches that a test ends. */
import type { Request } from '../http/exchange.ts'

/** A request matches if it has every given value. An empty match matches all requests. */
export interface RequestMatch {
  /** Kubernetes' verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb?: string
  /** The API group; empty for the core group. */
  readonly group?: string
  /** The plural: `deployments`. */
  readonly resource?: string
  /** `status`, `scale`; empty for requests of the object itself. */
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  /** The name of the user, impersonation included. */
  readonly user?: string
  /** The beginning of the user agent. */
  readonly userAgent?: string
  /** The beginning of the path. */
  readonly path?: string
}

export const matchFields = [
  'verb',
  'group',
  'resource',
  'subresource',
  'namespace',
  'name',
  'user',
  'userAgent',
  'path',
] as const satisfies readonly (keyof RequestMatch)[]

/** The user agent of test kits begins with this: their requests set up tests, and are neither logged nor failed. */
export const testKitAgent = 'typernetes-test'
/** The paths of the control of tests. */
export const testControlPath = '/debug/testing'

const componentUsers = /^system:(?!anonymous$|serviceaccount:(?!kube-system:))/

/** Returns true for controllers, schedulers, nodes: only matches that name them, or their agent, apply to them. */
export const isComponent = (user: string): boolean => componentUsers.test(user)

/** Returns true for the requests of test kits themselves. */
export const isOfTestKit = (request: Request): boolean =>
  request.path.startsWith(testControlPath) || (request.header('user-agent')?.startsWith(testKitAgent) ?? false)

/**
 * Returns true if the request has all values of the match, and is not a component's without being named. `name` is the
 * name of the object, which the path of a create does not have.
 */
export function matches(match: RequestMatch, request: Request, name = request.info.name): boolean {
  const { info } = request
  const user = request.user?.name ?? ''
  const agent = request.header('user-agent') ?? ''
  if (match.user === undefined && match.userAgent === undefined && isComponent(user)) return false
  const is = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value
  return (
    is(match.verb, info.verb) &&
    is(match.group, info.group) &&
    is(match.resource, info.resource) &&
    is(match.subresource, info.subresource) &&
    is(match.namespace, info.namespace) &&
    is(match.name, name) &&
    is(match.user, user) &&
    agent.startsWith(match.userAgent ?? '') &&
    request.path.startsWith(match.path ?? '')
  )
}
