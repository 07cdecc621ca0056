/** A CertificateSigningRequest as the controllers see it, and what a signer has to be able to do. */
import type { CertificateSigningRequest as SigningRequest } from '../../client/kinds.ts'

export {
  type CertificateSigningRequest as SigningRequest,
  certificateSigningRequests as signingRequests,
} from '../../client/kinds.ts'

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

/**
 * The cluster's authority. Requests are PEM; rejects with an Error for one that cannot be read or is not signed by its
 * own key.
 */
export interface CertificateSigner {
  /** The signers (`kubernetes.io/kubelet-serving`) that it signs for; all of Kubernetes' own unless said. */
  readonly signerNames?: readonly string[]
  read(request: string): Promise<RequestedSubject>
  /** Resolves with a PEM certificate. */
  sign(request: string, terms: CertificateTerms, signerName: string): Promise<string>
}

export const pemOf = ({ spec }: SigningRequest): string => Buffer.from(spec?.request ?? '', 'base64').toString()

export const hasCondition = ({ status }: SigningRequest, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
