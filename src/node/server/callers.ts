/**
 * Authenticates clients of a kubelet by client certificates of the cluster's CA and by TokenReviews, and authorizes
 * them with SubjectAccessReviews.
 */
import { createHash, X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { subjectAccessReviews, tokenReviews } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'

export interface Caller {
  readonly name: string
  readonly groups: readonly string[]
}

/** How long answers of the API server are cached, in ms. */
export interface ReviewTimes {
  readonly tokenMs: number
  readonly allowedMs: number
  readonly deniedMs: number
}

/** Those of a kubelet. */
const usualTimes: ReviewTimes = { tokenMs: 120_000, allowedMs: 300_000, deniedMs: 30_000 }
const maxCached = 1_000

/** Returns true if a certificate of a PEM bundle has signed this one. */
export function signedBy(certificate: X509Certificate, bundle: string): boolean {
  const authorities = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return authorities.some((pem) => {
    const authority = new X509Certificate(pem)
    return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
  })
}

/** True if the client has sent a certificate, valid or not. */
export const hasCertificate = (request: IncomingMessage): boolean =>
  (request.socket as TLSSocket).getPeerX509Certificate?.() !== undefined

/** The client's certificate, if it is valid now. */
export function certificateOf(request: IncomingMessage): X509Certificate | undefined {
  const certificate = (request.socket as TLSSocket).getPeerX509Certificate?.()
  const now = new Date()
  return certificate && certificate.validFromDate <= now && now <= certificate.validToDate ? certificate : undefined
}

/** The user and groups in a certificate's subject. */
export function callerOf(certificate: X509Certificate): Caller {
  const subject = certificate.subject.split('\n').map((line) => line.split('=') as [string, string?])
  const values = (type: string): string[] => subject.flatMap(([name, value]) => (name === type && value ? [value] : []))
  return { name: values('CN')[0] ?? '', groups: values('O') }
}

export class CallerReview {
  readonly #client: RestClient
  readonly #times: ReviewTimes
  readonly #decisions = new Map<string, { readonly isAllowed: boolean; readonly until: number }>()
  /** By hash of the token. */
  readonly #callers = new Map<string, { readonly caller: Caller; readonly until: number }>()

  constructor(client: RestClient, times: ReviewTimes = usualTimes) {
    this.#client = client
    this.#times = times
  }

  /** The user of a bearer token; undefined if it is not valid. Rejects if the API server cannot be reached. */
  async callerOfToken(token: string): Promise<Caller | undefined> {
    const key = createHash('sha256').update(token).digest('base64')
    const known = this.#callers.get(key)
    if (known && known.until > Date.now()) return known.caller
    const { status } = await this.#client.create(tokenReviews, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: {},
      spec: { token },
    })
    if (status?.authenticated !== true) return undefined
    const caller = { name: status.user?.username ?? '', groups: status.user?.groups ?? [] }
    if (this.#callers.size >= maxCached) this.#callers.clear()
    this.#callers.set(key, { caller, until: Date.now() + this.#times.tokenMs })
    return caller
  }

  /** Returns true if a user may use `nodes/SUBRESOURCE`. Rejects if the API server cannot be reached. */
  async isAllowed({ name: user, groups }: Caller, verb: string, subresource: string, node: string): Promise<boolean> {
    const key = JSON.stringify([user, groups, verb, subresource])
    const known = this.#decisions.get(key)
    if (known && known.until > Date.now()) return known.isAllowed
    const { status } = await this.#client.create(subjectAccessReviews, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user,
        groups: groups.includes('system:unauthenticated')
          ? [...groups]
          : [...new Set([...groups, 'system:authenticated'])],
        resourceAttributes: { verb, resource: 'nodes', subresource, version: 'v1', name: node },
      },
    })
    const isAllowed = status?.allowed === true
    if (this.#decisions.size >= maxCached) this.#decisions.clear()
    const { allowedMs, deniedMs } = this.#times
    this.#decisions.set(key, { isAllowed, until: Date.now() + (isAllowed ? allowedMs : deniedMs) })
    return isAllowed
  }
}
