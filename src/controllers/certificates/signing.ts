/** Signs approved CertificateSigningRequests of Kubernetes' signers with the cluster's certificate authority. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { own } from '../../lib/own.ts'
import { signerRules } from './signer-rules.ts'
import { type CertificateSigner, hasCondition, pemOf, type SigningRequest, signingRequests } from './signing-request.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
/** Certificates are backdated, as other clocks may be behind. */
const backdateMs = 5 * minuteMs
/** Certificates that are shorter than this are extended by the backdating. */
const shortLivedMs = 8 * hourMs
const minDurationMs = 10 * minuteMs

/**
 * `maxDurationMs`: the default and maximum duration of certificates. `now` returns ms: certificates are verified by
 * the time of machines, not by that of the cluster.
 */
export const csrSigning = (
  signer: CertificateSigner,
  maxDurationMs: number,
  now: () => number = Date.now,
): Controller => ({
  name: 'certificatesigningrequest-signing-controller',
  watches: [watch({ resource: signingRequests })],
  async reconcile(name, { caches, client, clock }) {
    const request = caches.get(signingRequests, '', name)
    const signerName = request?.spec?.signerName ?? ''
    const rule = own(signerRules, signerName)
    if (signer.signerNames && !signer.signerNames.includes(signerName)) return
    if (
      !request ||
      !rule ||
      request.status?.certificate ||
      !hasCondition(request, 'Approved') ||
      hasCondition(request, 'Failed')
    )
      return
    const pem = pemOf(request)
    const { usages = [], expirationSeconds } = request.spec ?? {}
    const problem = rule(await signer.read(pem), usages)
    if (problem) {
      await client.update(signingRequests, failed(request, problem, clock.now()), 'status')
      return
    }
    const certificate = await signer.sign(
      pem,
      { usages, ...validity(expirationSeconds, maxDurationMs, now()) },
      signerName,
    )
    await client.update(
      signingRequests,
      { ...request, status: { ...request.status, certificate: Buffer.from(certificate).toString('base64') } },
      'status',
    )
  },
})

/** The validity period of a certificate. */
export function validity(
  requestedSeconds: number | undefined,
  longestMs: number,
  now: number,
): { readonly notBefore: Date; readonly notAfter: Date } {
  const durationMs =
    requestedSeconds === undefined
      ? longestMs
      : Math.min(Math.max(requestedSeconds * secondMs, minDurationMs), longestMs)
  const start = now - backdateMs
  return { notBefore: new Date(start), notAfter: new Date((durationMs < shortLivedMs ? now : start) + durationMs) }
}

function failed(request: SigningRequest, message: string, now: number): SigningRequest {
  const time = new Date(now).toISOString().replace(/\.\d+/, '')
  const condition = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, lastUpdateTime: time }
  return { ...request, status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] } }
}
