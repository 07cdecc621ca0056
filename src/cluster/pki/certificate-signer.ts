/** The cluster's authority as a signer of CertificateSigningRequests. */
import type { CertificateSigner } from '../../controllers/index.ts'
import type { KeyPair } from './key-pair.ts'

/** Loading the X.509 library costs more than a start: only who has a request to read pays for it. */
export const certificateSigner = (authority: KeyPair): CertificateSigner => ({
  read: async (request) => (await import('./signing-requests.ts')).readRequest(request),
  sign: async (request, terms) => (await import('./signing-requests.ts')).signRequest(authority, request, terms),
})
