/**
 * Authenticates clients of a kubelet by client certificates of the cluster's CA, and authorizes them with
 * SubjectAccessReviews.
 */
import { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { subjectAccessReviews } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'

export interface Caller {
  readonly name: string
  readonly groups: readonly string[]
}

/** How long decisions are cached, as by a kubelet. In ms. */
const allowedMs = 300_000
const deniedMs = 30_000
const maxCached = 1_000

/** Returns true if a certificate of a PEM bundle has signed this one. */
export function signedBy(certificate: X509Certificate, bundle: string): boolean {
  const authorities = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return authorities.some((pem) => {
    const authority = new X509Certificate(pem)
    return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
  })
}

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
  readonly #decisions = new Map<string, { readonly isAllowed: boolean; readonly until: number }>()

  constructor(client: RestClient) {
    this.#client = client
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
        groups: [...groups, 'system:authenticated'],
        resourceAttributes: { verb, resource: 'nodes', subresource, version: 'v1', name: node },
      },
    })
    const isAllowed = status?.allowed === true
    if (this.#decisions.size >= maxCached) this.#decisions.clear()
    this.#decisions.set(key, { isAllowed, until: Date.now() + (isAllowed ? allowedMs : deniedMs) })
    return isAllowed
  }
}
