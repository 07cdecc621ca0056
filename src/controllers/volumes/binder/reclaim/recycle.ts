/**
 * Empties a volume for its next claim with a pod that deletes all files (reclaim policy Recycle: deprecated, only for
 * hostPath and NFS).
 */
import type { ReconcileContext } from '../../../../client/controller/controller.ts'
import { type PersistentVolume, type Pod, pods } from '../../../../client/kinds.ts'
import { parseQuantity } from '../../../../machinery/values/quantity.ts'
import { ignoreNotFound } from '../../../api-errors.ts'
import type { BinderWrites } from '../writes.ts'

const namespace = 'default'
const prefix = 'recycler-for-'
const image = 'busybox:1.36'
const scrubScript = 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'
/** The deadline grows with the size. */
const secondsPerGi = 30
const minSeconds = 60

/** The volume that a recycler pod empties; undefined for other pods. */
export function recycledBy({ metadata }: Pod): string | undefined {
  return metadata.namespace === namespace && metadata.name?.startsWith(prefix)
    ? metadata.name.slice(prefix.length)
    : undefined
}

/** Performs one step; called again when the pod ends. */
export async function recycle(
  volume: PersistentVolume,
  writes: BinderWrites,
  context: ReconcileContext,
): Promise<void> {
  const { caches, client, events } = context
  const fails = (message: string): Promise<PersistentVolume> =>
    writes.volumePhase(volume, 'Failed', context, { type: 'Warning', reason: 'VolumeFailedRecycle', message })
  // A volume that could not be emptied needs an administrator.
  if (volume.status?.phase === 'Failed') return
  if (!volume.spec?.hostPath && !volume.spec?.nfs) {
    await fails('No recycler plugin found for the volume!')
    return
  }
  const name = `${prefix}${volume.metadata.name}`
  const pod = caches.get(pods, namespace, name)
  const phase = pod?.status?.phase
  if (!pod) {
    await client.create(pods, recyclerOf(volume, name))
    events.record(volume, 'Normal', 'RecyclerPod', `Recycler pod: ${name}`)
  } else if (phase === 'Succeeded') {
    await client.delete(pods, namespace, name).catch(ignoreNotFound)
    await writes.unbind(volume, context)
    events.record(volume, 'Normal', 'VolumeRecycled', 'Volume recycled')
  } else if (phase === 'Failed') {
    await client.delete(pods, namespace, name).catch(ignoreNotFound)
    await fails(`Recycle failed: ${pod.status?.message ?? `pod ${name} failed`}`)
  }
}

function recyclerOf({ spec }: PersistentVolume, name: string): Pod {
  const size = parseQuantity(spec?.capacity?.storage ?? '0').nano / 1_000_000_000n / 2n ** 30n
  const source = spec?.nfs ? { nfs: { ...spec.nfs } } : { hostPath: { path: spec?.hostPath?.path ?? '' } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      activeDeadlineSeconds: Math.max(minSeconds, Number(size) * secondsPerGi),
      restartPolicy: 'Never',
      volumes: [{ name: 'vol', ...source }],
      containers: [
        {
          name: 'pv-recycler',
          image,
          command: ['/bin/sh'],
          args: ['-c', scrubScript],
          volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
        },
      ],
    },
  }
}
