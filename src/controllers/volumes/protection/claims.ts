/** Lets deleted claims go when no pod uses them any more: they carry a finalizer from the start (StorageObjectInUseProtection). */
import { type Controller, watched } from '../../../client/controller.ts'
import { persistentVolumeClaims as claims, type Pod, pods } from '../../../client/kinds.ts'
import { withoutFinalizer } from './finalizers.ts'

const finalizer = 'kubernetes.io/pvc-protection'
/** How long a claim that is in use waits until it is looked at again: pods are asked for, not kept in memory, as few claims are deleted. */
const againMs = 1000

export const claimProtection: Controller = {
  name: 'persistentvolumeclaim-protection-controller',
  watches: [watched({ resource: claims })],
  async reconcile(key, { client, caches, again }) {
    const [namespace = '', name = ''] = key.split('/')
    const claim = caches.get(claims, namespace, name)
    if (!claim?.metadata.deletionTimestamp || !claim.metadata.finalizers?.includes(finalizer)) return
    const { items } = await client.list(pods, { namespace })
    if (items.some((pod) => uses(pod, name))) again(key, againMs)
    else await client.update(claims, withoutFinalizer(claim, finalizer))
  },
}

/** Whether a pod has a claim, and may still write to it: one that nobody runs, or that has ended and was deleted, does not. */
export function uses({ metadata, spec, status }: Pod, claim: string): boolean {
  if (!spec?.nodeName) return false
  const hasEnded = metadata.deletionTimestamp !== undefined && (status?.phase === 'Succeeded' || status?.phase === 'Failed')
  if (hasEnded) return false
  const ofPod = (volume: string): string => `${metadata.name}-${volume}`
  return (
    spec.volumes?.some(({ name, persistentVolumeClaim, ephemeral }) => persistentVolumeClaim?.claimName === claim || (ephemeral && ofPod(name) === claim)) ??
    false
  )
}
