/**
 * Guards the status of PodCertificateRequests: issuing, denying and failing all need the permission to sign for the
 * signer (KEP-4317).
 */
import type { V1beta1PodCertificateRequest } from '@kubernetes/client-node'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { invalid } from '../../../machinery/status-error.ts'
import { forbiddenField } from '../../../machinery/validation/field-error.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { mayWithSigner } from '../identity/signer-rights.ts'

type Request = Model<V1beta1PodCertificateRequest>

export function guardPodCertificates(find: (key: string) => ServedResource, authorizer: Authorizer): void {
  find('certificates.k8s.io/v1beta1/podcertificaterequests').writeGuard = async (
    { user, resource, subresource },
    object,
    old,
  ) => {
    if (subresource !== 'status' || !old) return
    const { spec, status } = old as Request
    if (semanticallyEqual((object as Request).status ?? {}, status ?? {})) return
    const signer = spec?.signerName ?? ''
    if (await mayWithSigner(authorizer, user, 'sign', signer)) return
    const why = `User ${JSON.stringify(user.name)} is not permitted to "sign" for signer ${JSON.stringify(signer)}`
    throw invalid(resource.storage.groupKind, object.metadata.name ?? '', [forbiddenField('spec.signerName', why)])
  }
}
