/** CertificateSigningRequests as the plug-ins of this folder use them. */
import type { V1CertificateSigningRequest } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { RequestedSubject } from './requested-subject.ts'

export type SigningRequest = Model<V1CertificateSigningRequest>

export const clientSigner = 'kubernetes.io/kube-apiserver-client'
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving'

/** Returns true for a write of a signing request, or of the given subresource of one. */
export const isSigningRequest = (
  { resource: { groupResource }, subresource }: AdmissionAttributes,
  part: '' | 'approval' | 'status',
): boolean =>
  groupResource.name === 'certificatesigningrequests' &&
  groupResource.group === 'certificates.k8s.io' &&
  subresource === part

/** Returns the subject of a PKCS #10 request (PEM, in base64). Rejects with an Error for an invalid request. */
export async function requestedSubject(request: string): Promise<RequestedSubject> {
  const { subjectOf } = await import('./requested-subject.ts')
  return subjectOf(Buffer.from(request, 'base64').toString('latin1'))
}
