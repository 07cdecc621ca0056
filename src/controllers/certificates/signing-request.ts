/** CertificateSigningRequests and the interface of a signer. */
import type { CertificateSigningRequest as SigningRequest } from '../../client/kinds.ts'

export {
  type CertificateSigningRequest as SigningRequest,
  certificateSigningRequests as signingRequests,
} from '../../client/kinds.ts'

/** The subject of a PKCS #10 request. */
export interface RequestedSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly emailAddresses: readonly string[]
  readonly uris: readonly string[]
}

export interface CertificateOptions {
  /** Usages with the names of the API: `client auth`, `digital signature`, … */
  readonly usages: readonly string[]
  readonly notBefore: Date
  readonly notAfter: Date
}

/** The cluster's certificate authority. Requests are PEM; rejects for an invalid request or a wrong self-signature. */
export interface CertificateSigner {
  /** Names of the supported signers, such as `kubernetes.io/kubelet-serving`. Default: all of Kubernetes. */
  readonly signerNames?: readonly string[]
  read(request: string): Promise<RequestedSubject>
  /** Resolves with a PEM certificate. */
  sign(request: string, terms: CertificateOptions, signerName: string): Promise<string>
}

export const pemOf = ({ spec }: SigningRequest): string => Buffer.from(spec?.request ?? '', 'base64').toString()

export const hasCondition = ({ status }: SigningRequest, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
