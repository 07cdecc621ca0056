/**
 * Removes CertificateSigningRequests that nobody will look at any more: decided for an hour, or not decided for a day.
 */
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
    const leftMs = endOf(request) - now()
    if (leftMs < 0) await client.delete(signingRequests, '', name, { uid: request.metadata.uid }).catch(ignoreNotFound)
    // Both ends are in whole seconds, and it has to be past them.
    else if (leftMs !== Number.POSITIVE_INFINITY) requeue(name, Math.min(leftMs + 1, pendingMs))
  },
})

/** When a request is to go, in ms since the epoch; Infinity while something may still come of it. */
export function endOf(request: SigningRequest): number {
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

/** Infinity for what cannot be read. */
function validUntil(certificate: string): number {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
