/** Deletes expired bootstrap tokens. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { secrets } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'
import { maxDelayMs } from '../max-delay.ts'
import { expiration, tokenSelection } from './token.ts'

export const tokenCleaner = (now: () => number = Date.now): Controller => ({
  name: 'token-cleaner-controller',
  watches: [watch({ resource: secrets, selection: tokenSelection })],
  async reconcile(key, { caches, client, requeue }) {
    const [namespace = '', name = ''] = key.split('/')
    const secret = caches.get(secrets, namespace, name)
    if (!secret) return
    const remainingMs = expiration(secret) - now()
    const { uid, resourceVersion } = secret.metadata
    if (remainingMs <= 0) await client.delete(secrets, namespace, name, { uid, resourceVersion }).catch(ignoreNotFound)
    else if (remainingMs !== Number.POSITIVE_INFINITY) requeue(key, Math.min(remainingMs, maxDelayMs))
  },
})
