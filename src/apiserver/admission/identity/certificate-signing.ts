/**
 * CertificateSigning: writing the certificate or the conditions of a signing request needs the permission `sign` for
 * its signer.
 */
import { after } from '../../../lib/flow/after.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin } from '../plugin.ts'
import { isSigningRequest, type SigningRequest } from './certificate-signing-request.ts'
import { mayWithSigner } from './signer-rights.ts'

export const certificateSigning = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  handles: ['UPDATE'],
  validate(attributes) {
    if (!isSigningRequest(attributes, 'status')) return
    const { status } = attributes.object as SigningRequest
    const { spec, status: before } = attributes.old as SigningRequest
    if (status?.certificate === before?.certificate && semanticallyEqual(status?.conditions, before?.conditions)) return
    const signer = spec?.signerName ?? ''
    return after(mayWithSigner(authorizer, attributes.user, 'sign', signer), (may) => {
      if (!may)
        throw forbiddenWrite(
          attributes,
          `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`,
        )
    })
  },
})
