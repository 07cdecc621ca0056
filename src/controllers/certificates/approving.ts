/**
 * Approves requests of kubelets for their own client certificates, if the requester is authorized (verb `create` on
 * `…/nodeclient`, `…/selfnodeclient`).
 */
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { subjectAccessReviews as accessReviews } from '../../client/kinds.ts'
import { kubeletClientRule, kubeletClientSigner } from './signer-rules.ts'
import { type CertificateSigner, hasCondition, pemOf, type SigningRequest, signingRequests } from './signing-request.ts'

/** Bounds of the delay before an unauthorized request is checked again, in ms: the requester may become authorized. */
const minDelayMs = 1000
const maxDelayMs = 1000 * 1000

/** `now` returns ms since the epoch. */
export const csrApproving = (signer: CertificateSigner, now: () => number = Date.now): Controller => ({
  name: 'certificatesigningrequest-approving-controller',
  watches: [watch({ resource: signingRequests })],
  async reconcile(name, context) {
    const request = context.caches.get(signingRequests, '', name)
    if (!request || request.spec?.signerName !== kubeletClientSigner) return
    if (request.status?.certificate || hasCondition(request, 'Approved') || hasCondition(request, 'Denied')) return
    const subject = await signer.read(pemOf(request))
    if (kubeletClientRule(subject, request.spec.usages ?? [])) return
    if (request.spec.username === subject.commonName && (await isAllowed(request, 'selfnodeclient', context))) {
      await approve(request, 'Auto approving self kubelet client certificate after SubjectAccessReview.', context)
    } else if (await isAllowed(request, 'nodeclient', context)) {
      await approve(request, 'Auto approving kubelet client certificate after SubjectAccessReview.', context)
    } else context.requeue(name, requeueDelayMs(request, now()), { isRealTime: true })
  },
})

/** The delay is the age of the request, so that it doubles each time. */
function requeueDelayMs({ metadata }: SigningRequest, now: number): number {
  const waited = now - Date.parse(metadata.creationTimestamp ?? '')
  return Math.min(Math.max(waited || 0, minDelayMs), maxDelayMs)
}

async function isAllowed(
  { spec }: SigningRequest,
  subresource: string,
  { client }: ReconcileContext,
): Promise<boolean> {
  const { username: user, uid, groups, extra } = spec ?? {}
  const { status } = await client.create(accessReviews, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      user,
      uid,
      groups,
      extra,
      resourceAttributes: {
        group: 'certificates.k8s.io',
        resource: 'certificatesigningrequests',
        verb: 'create',
        subresource,
      },
    },
  })
  return status?.allowed ?? false
}

async function approve(request: SigningRequest, message: string, { client }: ReconcileContext): Promise<void> {
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message }
  await client.update(
    signingRequests,
    { ...request, status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] } },
    'approval',
  )
}
