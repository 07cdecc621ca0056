/** Authorities as signers of CertificateSigningRequests. */
import type { CertificateSigner, CertificateTerms } from '../../controllers/index.ts'
import type { KeyPair } from './key-pair.ts'

/** One authority for all of Kubernetes' own signers. */
export const certificateSigner = (authority: KeyPair): CertificateSigner => ({
  read,
  sign: (request, terms) => sign(authority, request, terms),
})

/** An authority for each signer that is named. */
export const namedSigners = (authorities: ReadonlyMap<string, KeyPair>): CertificateSigner => ({
  signerNames: [...authorities.keys()],
  read,
  async sign(request, terms, signerName) {
    const authority = authorities.get(signerName)
    if (!authority) throw new Error(`there is no authority for ${signerName}`)
    return sign(authority, request, terms)
  },
})

// Loading the X.509 library costs more than a start: only who has a request to read pays for it.
const read: CertificateSigner['read'] = async (request) => (await import('./signing-requests.ts')).readRequest(request)
const sign = async (authority: KeyPair, request: string, terms: CertificateTerms): Promise<string> =>
  (await import('./signing-requests.ts')).signRequest(authority, request, terms)
