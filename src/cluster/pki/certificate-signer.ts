/** Signers of CertificateSigningRequests. */
import type { CertificateSigner, CertificateTerms } from '../../controllers/index.ts'
import type { KeyPair } from './key-pair.ts'

/** Signs for all of Kubernetes' signers with one authority. */
export const certificateSigner = (authority: KeyPair): CertificateSigner => ({
  read,
  sign: (request, terms) => sign(authority, request, terms),
})

/** Signs with one authority per signer. */
export const namedSigners = (authorities: ReadonlyMap<string, KeyPair>): CertificateSigner => ({
  signerNames: [...authorities.keys()],
  read,
  async sign(request, terms, signerName) {
    const authority = authorities.get(signerName)
    if (!authority) throw new Error(`there is no authority for ${signerName}`)
    return sign(authority, request, terms)
  },
})

// Loading the X.509 library costs more than a start, so it is loaded with the first request.
const read: CertificateSigner['read'] = async (request) => (await import('./signing-requests.ts')).readRequest(request)
const sign = async (authority: KeyPair, request: string, terms: CertificateTerms): Promise<string> =>
  (await import('./signing-requests.ts')).signRequest(authority, request, terms)
