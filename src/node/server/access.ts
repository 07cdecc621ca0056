/** Decides whether a client may send a request to a kubelet: authentication, and authorization by the API server. */
import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http-error.ts'
import { type Caller, type CallerReview, callerOf, certificateOf, hasCertificate, signedBy } from './callers.ts'

/** Subresources of `nodes` by the first part of a path, most specific first. All other paths are `proxy`. */
const subresources: Readonly<Record<string, readonly string[]>> = {
  stats: ['stats'],
  metrics: ['metrics'],
  logs: ['log'],
  checkpoint: ['checkpoint'],
  pods: ['pods', 'proxy'],
  runningpods: ['pods', 'proxy'],
  healthz: ['healthz', 'proxy'],
  configz: ['configz', 'proxy'],
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

export interface AccessOptions {
  /** The PEM bundle of CAs for client certificates; empty if there is none. */
  readonly clientCA: () => string
  readonly review: CallerReview
  readonly rules: AccessRules
}

/** The settings `authentication` and `authorization` of a KubeletConfiguration. */
export interface AccessRules {
  /** Requests without credentials come from `system:anonymous`; false rejects them. */
  readonly acceptsAnonymous: boolean
  /** Bearer tokens are verified by TokenReviews; false ignores them. */
  readonly acceptsTokens: boolean
  /** False allows everything to everybody who is authenticated (`AlwaysAllow`). */
  readonly authorizes: boolean
}

export const strictRules: AccessRules = { acceptsAnonymous: false, acceptsTokens: true, authorizes: true }

const anonymous: Caller = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** The client's certificate, if it is valid and one of the CAs in `bundle` has signed it. Throws 401 otherwise. */
function authenticateCertificate(request: IncomingMessage, bundle: string): X509Certificate {
  const certificate = certificateOf(request)
  if (!certificate || !bundle || !signedBy(certificate, bundle)) throw new HttpError(401, 'Unauthorized')
  return certificate
}

/**
 * Resolves with the user of a client certificate or a bearer token. Rejects with 401 for invalid ones, and if there is
 * neither, unless anonymous users are accepted.
 */
export async function authenticate(
  request: IncomingMessage,
  { clientCA, review, rules }: AccessOptions,
): Promise<Caller> {
  const [, token] = (rules.acceptsTokens && /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')) || []
  if (!token || isSigned(request, clientCA())) {
    if (rules.acceptsAnonymous && !token && !hasCertificate(request)) return anonymous
    return callerOf(authenticateCertificate(request, clientCA()))
  }
  const caller = await review.callerOfToken(token)
  if (!caller) throw new HttpError(401, 'Unauthorized')
  return caller
}

function isSigned(request: IncomingMessage, bundle: string): boolean {
  const certificate = certificateOf(request)
  return certificate !== undefined && bundle !== '' && signedBy(certificate, bundle)
}

/** Rejects with 403 unless the user may send the request to the node. `kind` is the first part of its path. */
export async function authorize(
  caller: Caller,
  { method = '' }: IncomingMessage,
  kind: string,
  nodeName: string,
  { review, rules }: AccessOptions,
): Promise<void> {
  if (!rules.authorizes) return
  const verb = verbs[method] ?? 'create'
  const names = Object.hasOwn(subresources, kind) ? subresources[kind]! : ['proxy']
  for (const name of names) if (await review.isAllowed(caller, verb, name, nodeName)) return
  throw new HttpError(
    403,
    `Forbidden (user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${names.join(' ')}])`,
  )
}
