/** CertificateApproval: approving or denying a signing request needs the permission `approve` for its signer. */
import { after } from '../../../lib/flow/after.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin } from '../plugin.ts'
import { isSigningRequest, type SigningRequest } from './certificate-signing-request.ts'
import { mayWithSigner } from './signer-rights.ts'

export const certificateApproval = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateApproval',
  handles: ['UPDATE'],
  validate(attributes) {
    if (!isSigningRequest(attributes, 'approval')) return
    const { user, old } = attributes
    // The signer of the stored request, not of the one sent.
    const signer = (old as SigningRequest).spec?.signerName ?? ''
    return after(mayWithSigner(authorizer, user, 'approve', signer), (may) => {
      if (!may)
        throw forbiddenWrite(
          attributes,
          `user not permitted to approve requests with signerName ${JSON.stringify(signer)}`,
        )
    })
  },
})
