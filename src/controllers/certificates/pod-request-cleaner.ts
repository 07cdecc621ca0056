/** Deletes old PodCertificateRequests, which have been used or never will be: kubelets create new ones. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { podCertificateRequests } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'

/** Age at which requests are deleted, in ms; all processing ends sooner. */
const retentionMs = 15 * 60_000

export const podRequestCleaner = (now: () => number = Date.now): Controller => ({
  name: 'podcertificaterequest-cleaner-controller',
  watches: [watch({ resource: podCertificateRequests })],
  async reconcile(key, { caches, client, requeue }) {
    const [namespace = '', name = ''] = key.split('/')
    const request = caches.get(podCertificateRequests, namespace, name)
    if (!request) return
    const remainingMs = Date.parse(request.metadata.creationTimestamp ?? '') + retentionMs - now()
    if (remainingMs > 0) return requeue(key, remainingMs)
    await client.delete(podCertificateRequests, namespace, name, { uid: request.metadata.uid }).catch(ignoreNotFound)
  },
})
