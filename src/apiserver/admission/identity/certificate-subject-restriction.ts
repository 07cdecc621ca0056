/** CertificateSubjectRestriction: rejects requests for client certificates with the group system:masters. */

import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin } from '../plugin.ts'
import { clientSigner, isSigningRequest, requestedSubject, type SigningRequest } from './certificate-signing-request.ts'

export const certificateSubjectRestriction: AdmissionPlugin = {
  name: 'CertificateSubjectRestriction',
  handles: ['CREATE'],
  validate(attributes) {
    if (!isSigningRequest(attributes, '')) return
    const { spec } = attributes.object as SigningRequest
    return spec?.signerName === clientSigner ? checkSubject(attributes, spec.request) : undefined
  },
}

async function checkSubject(attributes: AdmissionAttributes, request: string): Promise<void> {
  const { organizations } = await requestedSubject(request).catch((error) => {
    throw forbiddenWrite(attributes, `failed to parse CSR: ${error instanceof Error ? error.message : error}`)
  })
  if (organizations.includes('system:masters')) {
    throw forbiddenWrite(attributes, `use of ${clientSigner} signer with system:masters group is not allowed`)
  }
}
