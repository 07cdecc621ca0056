/** A CertificateSigningRequest as the controllers see it, and what a signer has to be able to do. */
import type { V1CertificateSigningRequest } from '@kubernetes/client-node'
import { resource } from '../../client/resource.ts'
import type { Model } from '../../machinery/object.ts'

export type SigningRequest = Model<V1CertificateSigningRequest>

export const signingRequests = resource<SigningRequest>('certificates.k8s.io/v1', 'CertificateSigningRequest', 'certificatesigningrequests', false)

/** What a PKCS #10 request asks for. */
export interface RequestedSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly emailAddresses: readonly string[]
  readonly uris: readonly string[]
}

export interface CertificateTerms {
  /** As the API names them: `client auth`, `digital signature`, … */
  readonly usages: readonly string[]
  readonly notBefore: Date
  readonly notAfter: Date
}

/** The cluster's authority. Requests are PEM; rejects with an Error for one that cannot be read or is not signed by its own key. */
export interface CertificateSigner {
  read(request: string): Promise<RequestedSubject>
  /** Resolves with a PEM certificate. */
  sign(request: string, terms: CertificateTerms): Promise<string>
}

export const pemOf = ({ spec }: SigningRequest): string => Buffer.from(spec?.request ?? '', 'base64').toString()

export const hasCondition = ({ status }: SigningRequest, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
