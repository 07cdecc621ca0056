/** Lets deleted claims go when no pod uses them any more: all carry a finalizer (StorageObjectInUseProtection). */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { persistentVolumeClaims as claims, type PersistentVolumeClaim, type Pod, pods } from '../../../client/kinds.ts'
import { withFinalizer, withoutFinalizer } from '../../../client/objects/finalizers.ts'
import { hasEnded } from '../../pods/phase.ts'
import { unlessGone } from '../../refusals.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { lacksFinalizer } from './lacks-finalizer.ts'

const finalizer = 'kubernetes.io/pvc-protection'

const isLeaving = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true

export const claimProtection: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  watches: [
    watch({
      resource: claims,
      keys: (claim) =>
        isLeaving(claim) || lacksFinalizer(claim, finalizer)
          ? [`${claim.metadata.namespace}/${claim.metadata.name}`]
          : [],
    }),
    watch({
      resource: pods,
      *keys(pod, caches) {
        for (const key of claimsOfPod(pod)) {
          const [namespace = '', name = ''] = key.split('/')
          const claim = caches.get(claims, namespace, name)
          if (claim && isLeaving(claim)) yield key
        }
      },
    }),
  ],
  async reconcile(key, { client, caches }) {
    const [namespace = '', name = ''] = key.split('/')
    const claim = caches.get(claims, namespace, name)
    if (claim && lacksFinalizer(claim, finalizer))
      return void (await client.update(claims, withFinalizer(claim, finalizer)).catch(unlessGone))
    if (!claim || !isLeaving(claim)) return
    for (const pod of caches.by(pods, claimsOfPod, key)) if (uses(pod)) return
    // A pod that came just now may not be known yet, and the claim does not come back.
    const { items } = await client.list(pods, { namespace })
    if (items.some((pod) => claimsOfPod(pod).includes(key) && uses(pod))) return
    await client.update(claims, withoutFinalizer(claim, finalizer)).catch(unlessGone)
  },
}

/** Whether a pod may still write to its claims: one that nobody runs, or that has ended and was deleted, does not. */
export const uses = (pod: Pod): boolean =>
  Boolean(pod.spec?.nodeName) && !(pod.metadata.deletionTimestamp && hasEnded(pod))
