/** Deletes expired CertificateSigningRequests: an hour after the decision, or after a day without one. */
import { X509Certificate } from 'node:crypto'
import { type Controller, watch } from '../../client/controller/controller.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { hasCondition, type SigningRequest, signingRequests } from './signing-request.ts'

const hourMs = 3600 * 1000
const decidedMs = hourMs
const pendingMs = 24 * hourMs

export const csrCleaner = (now: () => number = Date.now): Controller => ({
  name: 'certificatesigningrequest-cleaner-controller',
  watches: [watch({ resource: signingRequests })],
  async reconcile(name, { caches, client, requeue }) {
    const request = caches.get(signingRequests, '', name)
    if (!request) return
    const remainingMs = expiryOf(request) - now()
    if (remainingMs < 0)
      await client.delete(signingRequests, '', name, { uid: request.metadata.uid }).catch(ignoreNotFound)
    // Times are in whole seconds, and the expiry must be in the past.
    else if (remainingMs !== Number.POSITIVE_INFINITY) requeue(name, Math.min(remainingMs + 1, pendingMs))
  },
})

/** The expiry of a request in ms since the epoch; Infinity while it is in progress. */
export function expiryOf(request: SigningRequest): number {
  const { metadata, status } = request
  const conditions = status?.conditions ?? []
  if (conditions.length === 0) return Date.parse(metadata.creationTimestamp ?? '') + pendingMs
  const isIssued = Boolean(status?.certificate)
  const decided = conditions.filter(
    ({ type }) => type === 'Denied' || type === 'Failed' || (type === 'Approved' && isIssued),
  )
  const ends = decided.flatMap(({ lastUpdateTime }) => (lastUpdateTime ? [Date.parse(lastUpdateTime) + decidedMs] : []))
  if (isIssued && hasCondition(request, 'Approved')) ends.push(validUntil(status?.certificate ?? ''))
  return Math.min(Number.POSITIVE_INFINITY, ...ends)
}

/** The end of a certificate's validity; Infinity if it cannot be parsed. */
function validUntil(certificate: string): number {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
