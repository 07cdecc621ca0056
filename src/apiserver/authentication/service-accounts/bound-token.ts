/**
 * Bound tokens, created by TokenRequests. They expire, and become invalid with the account, pod, secret or node that
 * they are bound to (KEP-1205, KEP-4193).
 */
import { isObject } from '../../../machinery/fields/json.ts'
import type { UserInfo } from '../../request-info/user-info.ts'
import type { TokenRefusal } from '../token-authenticator.ts'
import { accountGroups, accountUser } from './account-name.ts'
import type { BoundObject, Lookup } from './account-objects.ts'
import { textOf } from './json-web-token.ts'

/** An object by name and uid. A later object of the same name does not match. */
export interface Reference {
  readonly name: string
  readonly uid: string
}

/** The claim `kubernetes.io`. */
export interface BoundClaims {
  readonly namespace: string
  readonly serviceaccount: Reference
  readonly pod?: Reference
  readonly secret?: Reference
  readonly node?: Reference
  /** When a token with extended lifetime should have been renewed, in seconds since 1970. */
  readonly warnafter?: number
}

/** The objects that the token names, in this order; undefined if it names none or the object is missing. */
type Found = readonly [
  account: BoundObject | undefined,
  secret: BoundObject | undefined,
  pod: BoundObject | undefined,
  node: BoundObject | undefined,
]

/** The accepted clock difference, in ms. */
export const leewayMs = 60_000

/** Returns undefined for a token without such claims. */
export function boundClaimsOf(claims: Readonly<Record<string, unknown>>): BoundClaims | undefined {
  const bound = claims['kubernetes.io']
  if (!isObject(bound)) return undefined
  const account = referenceOf(bound.serviceaccount)
  if (!account) return undefined
  const [pod, secret, node] = [referenceOf(bound.pod), referenceOf(bound.secret), referenceOf(bound.node)]
  return {
    namespace: textOf(bound.namespace),
    serviceaccount: account,
    ...(pod && { pod }),
    ...(secret && { secret }),
    ...(node && { node }),
    ...(typeof bound.warnafter === 'number' && { warnafter: bound.warnafter }),
  }
}

const referenceOf = (value: unknown): Reference | undefined =>
  isObject(value) ? { name: textOf(value.name), uid: textOf(value.uid) } : undefined

/** The user of the token. `jti` is the token's id; empty if it has none. */
export function boundUser({ namespace, serviceaccount, pod, node }: BoundClaims, jti: string): UserInfo {
  const own = 'authentication.kubernetes.io/'
  const extra = {
    ...(jti && { [`${own}credential-id`]: [`JTI=${jti}`] }),
    ...(node?.name && { [`${own}node-name`]: [node.name] }),
    ...(node?.uid && { [`${own}node-uid`]: [node.uid] }),
    ...(pod?.name && pod.uid && { [`${own}pod-name`]: [pod.name], [`${own}pod-uid`]: [pod.uid] }),
  }
  return {
    name: accountUser({ namespace, name: serviceaccount.name }),
    uid: serviceaccount.uid,
    groups: accountGroups(namespace),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

/**
 * Returns the reason why the token is no longer valid; undefined if it is. The objects are checked on each request.
 */
export function boundFault(
  claims: BoundClaims,
  lookup: Lookup,
  nowMs: number,
): TokenRefusal | undefined | Promise<TokenRefusal | undefined> {
  const { namespace, serviceaccount, secret, pod, node } = claims
  const found = [
    lookup('serviceaccounts', namespace, serviceaccount.name),
    secret && lookup('secrets', namespace, secret.name),
    pod && lookup('pods', namespace, pod.name),
    // The node of a pod is for information only, and may be deleted before the pod.
    node && !pod ? lookup('nodes', '', node.name) : undefined,
  ] as const
  if (found.some((object) => object instanceof Promise))
    return Promise.all(found).then((objects) => judge(claims, objects, nowMs))
  return judge(claims, found as Found, nowMs)
}

const invalidated: TokenRefusal = { refused: 'service account token has been invalidated' }

function judge(
  { namespace, serviceaccount, secret, pod, node }: BoundClaims,
  [account, ...others]: Found,
  nowMs: number,
): TokenRefusal | undefined {
  const { name, uid } = serviceaccount
  if (!account) return { refused: `serviceaccounts ${JSON.stringify(name)} not found` }
  if (isDeleted(account, nowMs)) return { refused: `service account ${namespace}/${name} has been deleted` }
  if (account.uid !== uid) return { refused: `service account UID (${account.uid}) does not match claim (${uid})` }
  const [boundSecret, boundPod, boundNode] = others
  return (
    (secret && faultOf('secret', secret, boundSecret, nowMs)) ??
    (pod && faultOf('pod', pod, boundPod, nowMs)) ??
    (node && !pod ? faultOf('node', node, boundNode, nowMs) : undefined)
  )
}

const isDeleted = ({ deletedMs }: BoundObject, nowMs: number): boolean =>
  deletedMs !== undefined && deletedMs < nowMs - leewayMs

function faultOf(
  kind: string,
  { uid }: Reference,
  object: BoundObject | undefined,
  nowMs: number,
): TokenRefusal | undefined {
  if (!object || isDeleted(object, nowMs)) return invalidated
  return object.uid === uid
    ? undefined
    : { refused: `${kind} UID (${object.uid}) does not match service account ${kind} ref claim (${uid})` }
}
