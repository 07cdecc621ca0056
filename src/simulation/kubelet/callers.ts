/**
 * Who calls a kubelet, and whether they may: by client certificates of the cluster's authority, or tokens, and by
 * asking the API server.
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

/** A kubelet remembers for this long that somebody may do something, and that they may not. Milliseconds. */
const allowedMs = 300_000
const deniedMs = 30_000
const mostRemembered = 1_000

/** Whether a certificate of a bundle (PEM) has signed this one. */
export function signedBy(certificate: X509Certificate, bundle: string): boolean {
  const authorities = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return authorities.some((pem) => {
    const authority = new X509Certificate(pem)
    return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
  })
}

/** The certificate that the other side has shown, if it is good now. */
export function certificateOf(request: IncomingMessage): X509Certificate | undefined {
  const certificate = (request.socket as TLSSocket).getPeerX509Certificate?.()
  const now = new Date()
  return certificate && certificate.validFromDate <= now && now <= certificate.validToDate ? certificate : undefined
}

/** Whom a certificate's subject names. */
export function callerOf(certificate: X509Certificate): Caller {
  const subject = certificate.subject.split('\n').map((line) => line.split('=') as [string, string?])
  const values = (type: string): string[] => subject.flatMap(([name, value]) => (name === type && value ? [value] : []))
  return { name: values('CN')[0] ?? '', groups: values('O') }
}

export class CallerReview {
  readonly #client: RestClient
  readonly #remembered = new Map<string, { readonly isAllowed: boolean; readonly until: number }>()

  constructor(client: RestClient) {
    this.#client = client
  }

  /** Whether a caller may do this with `nodes/SUBRESOURCE`. Rejects when the API server cannot be asked. */
  async mayUse({ name: user, groups }: Caller, verb: string, subresource: string, node: string): Promise<boolean> {
    const key = JSON.stringify([user, groups, verb, subresource])
    const known = this.#remembered.get(key)
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
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear()
    this.#remembered.set(key, { isAllowed, until: Date.now() + (isAllowed ? allowedMs : deniedMs) })
    return isAllowed
  }
}
