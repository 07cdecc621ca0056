/** Signs approved CertificateSigningRequests of Kubernetes' own signers with the cluster's authority. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { own } from '../../lib/own.ts'
import { signerRules } from './signer-rules.ts'
import { type CertificateSigner, hasCondition, pemOf, type SigningRequest, signingRequests } from './signing-request.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
/** Clocks of others may be behind. */
const backdateMs = 5 * minuteMs
/** Certificates that live shorter than this get the time back that backdating takes. */
const shortMs = 8 * hourMs
const leastMs = 10 * minuteMs

/** `longestMs`: how long certificates hold, and the most that may be asked for. */
export const csrSigning = (signer: CertificateSigner, longestMs: number, now: () => number = Date.now): Controller => ({
  name: 'certificatesigningrequest-signing-controller',
  watches: [watch({ resource: signingRequests })],
  async reconcile(name, { caches, client }) {
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
    const wrong = rule(await signer.read(pem), usages)
    if (wrong) {
      await client.update(signingRequests, failed(request, wrong, now()), 'status')
      return
    }
    const certificate = await signer.sign(pem, { usages, ...validity(expirationSeconds, longestMs, now()) }, signerName)
    await client.update(
      signingRequests,
      { ...request, status: { ...request.status, certificate: Buffer.from(certificate).toString('base64') } },
      'status',
    )
  },
})

/** From when and until when a certificate holds. */
export function validity(
  askedSeconds: number | undefined,
  longestMs: number,
  now: number,
): { readonly notBefore: Date; readonly notAfter: Date } {
  const askedMs =
    askedSeconds === undefined ? longestMs : Math.min(Math.max(askedSeconds * secondMs, leastMs), longestMs)
  const start = now - backdateMs
  return { notBefore: new Date(start), notAfter: new Date((askedMs < shortMs ? now : start) + askedMs) }
}

function failed(request: SigningRequest, message: string, now: number): SigningRequest {
  const time = new Date(now).toISOString().replace(/\.\d+/, '')
  const condition = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message, lastUpdateTime: time }
  return { ...request, status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] } }
}
