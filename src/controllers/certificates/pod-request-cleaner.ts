/** Removes PodCertificateRequests that are old enough to have been used, or never to be: kubelets ask again. */
import { type Controller, watch } from '../../client/controller/controller.ts'
import { podCertificateRequests } from '../../client/kinds.ts'
import { ignoreNotFound } from '../api-errors.ts'

/** All that becomes of a request becomes of it sooner than this. Milliseconds. */
const keptMs = 15 * 60_000

export const podRequestCleaner = (now: () => number = Date.now): Controller => ({
  name: 'podcertificaterequest-cleaner-controller',
  watches: [watch({ resource: podCertificateRequests })],
  async reconcile(key, { caches, client, requeue }) {
    const [namespace = '', name = ''] = key.split('/')
    const request = caches.get(podCertificateRequests, namespace, name)
    if (!request) return
    const leftMs = Date.parse(request.metadata.creationTimestamp ?? '') + keptMs - now()
    if (leftMs > 0) return requeue(key, leftMs)
    await client.delete(podCertificateRequests, namespace, name, { uid: request.metadata.uid }).catch(ignoreNotFound)
  },
})
