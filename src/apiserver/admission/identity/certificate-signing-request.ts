/** What the plug-ins here know of CertificateSigningRequests. */
import type { V1CertificateSigningRequest } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import type { RequestedSubject } from './requested-subject.ts'

export type SigningRequest = Model<V1CertificateSigningRequest>

export const clientSigner = 'kubernetes.io/kube-apiserver-client'
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving'

/** Whether a write is about signing requests, or a subresource of theirs. */
export const isSigningRequest = (
  { resource: { groupResource }, subresource }: AdmissionAttributes,
  part: '' | 'approval' | 'status',
): boolean =>
  groupResource.name === 'certificatesigningrequests' &&
  groupResource.group === 'certificates.k8s.io' &&
  subresource === part

/** The subject that a PKCS #10 request (PEM, in base64) asks for. Rejects with an Error for what is none. */
export async function requestedSubject(request: string): Promise<RequestedSubject> {
  const { subjectOf } = await import('./requested-subject.ts')
  return subjectOf(Buffer.from(request, 'base64').toString('latin1'))
}
