/** CertificateSigning: who writes the certificate or the conditions of a signing request needs the right to sign for its signer. */
import { after } from '../../../lib/flow/after.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import { forbidden } from '../../../machinery/status-error.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import type { AdmissionPlugin } from '../plugin.ts'
import { isSigningRequest, type SigningRequest } from './certificate-signing-request.ts'
import { mayWithSigner } from './signer-rights.ts'

export const certificateSigning = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'CertificateSigning',
  handles: ['UPDATE'],
  validate(attributes) {
    if (!isSigningRequest(attributes, 'status')) return
    const { resource, name, user } = attributes
    const { status } = attributes.object as SigningRequest
    const { spec, status: before } = attributes.old as SigningRequest
    if (status?.certificate === before?.certificate && semanticallyEqual(status?.conditions, before?.conditions)) return
    const signer = spec?.signerName ?? ''
    return after(mayWithSigner(authorizer, user, 'sign', signer), (may) => {
      if (!may) throw forbidden(resource.groupResource, name, `user not permitted to sign requests with signerName ${JSON.stringify(signer)}`)
    })
  },
})
