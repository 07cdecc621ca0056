/** Holds claims with a finalizer until no pod uses them (StorageObjectInUseProtection). */
import { type Controller, watch } from '../../../client/controller/controller.ts'
import { persistentVolumeClaims as claims, type PersistentVolumeClaim, type Pod, pods } from '../../../client/kinds.ts'
import { withFinalizer, withoutFinalizer } from '../../../client/objects/finalizers.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { hasEnded } from '../../pods/phase.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { lacksFinalizer } from './finalizer.ts'

const finalizer = 'kubernetes.io/pvc-protection'

const isTerminating = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true

export const claimProtection: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  watches: [
    watch({
      resource: claims,
      keys: (claim) =>
        isTerminating(claim) || lacksFinalizer(claim, finalizer)
          ? [`${claim.metadata.namespace}/${claim.metadata.name}`]
          : [],
    }),
    watch({
      resource: pods,
      *keys(pod, caches) {
        for (const key of claimsOfPod(pod)) {
          const [namespace = '', name = ''] = key.split('/')
          const claim = caches.get(claims, namespace, name)
          if (claim && isTerminating(claim)) yield key
        }
      },
    }),
  ],
  async reconcile(key, { client, caches }) {
    const [namespace = '', name = ''] = key.split('/')
    const claim = caches.get(claims, namespace, name)
    if (claim && lacksFinalizer(claim, finalizer))
      return void (await client.update(claims, withFinalizer(claim, finalizer)).catch(ignoreNotFound))
    if (!claim || !isTerminating(claim)) return
    for (const pod of caches.by(pods, claimsOfPod, key)) if (usesClaims(pod)) return
    // A new pod may not be in the cache yet, and a deleted claim cannot be restored.
    const { items } = await client.list(pods, { namespace })
    if (items.some((pod) => claimsOfPod(pod).includes(key) && usesClaims(pod))) return
    await client.update(claims, withoutFinalizer(claim, finalizer)).catch(ignoreNotFound)
  },
}

/** Returns true if a pod may still write to its claims: it is scheduled and not both ended and deleted. */
export const usesClaims = (pod: Pod): boolean =>
  Boolean(pod.spec?.nodeName) && !(pod.metadata.deletionTimestamp && hasEnded(pod))
