/**
 * Attaches volumes to the nodes whose pods use them and detaches unused ones, by creating and deleting
 * VolumeAttachments, which CSI drivers carry out.
 */
import { type Caches, type Controller, reads, watch } from '../../../client/controller/controller.ts'
import { keyOf } from '../../../client/informers/informer.ts'
import {
  persistentVolumeClaims as claims,
  csiDrivers,
  nodes,
  type PersistentVolumeClaim,
  pods,
  volumeAttachments,
  persistentVolumes as volumes,
} from '../../../client/kinds.ts'
import { MetricsRegistry } from '../../../lib/metrics/registry.ts'
import { claimsOfPod } from '../pod-claims.ts'
import { attachmentsByNode, podsByNode, volumeName } from './indexes.ts'
import { NodeAttachments, type NodeAttachmentsOptions } from './node-attachments.ts'

export interface AttachmentOptions extends NodeAttachmentsOptions {
  /** Default: metrics that are not exported. */
  readonly registry?: MetricsRegistry
}

export function attachDetach({ registry = new MetricsRegistry(), ...options }: AttachmentOptions): Controller {
  const forcedDetaches = registry.counter(
    'attachdetach_controller_forced_detaches',
    'Number of times the A/D Controller performed a forced detach',
    ['reason'],
  )
  const attachments = new NodeAttachments(options, (reason) => forcedDetaches([reason]).add())
  return {
    name: 'persistentvolume-attach-detach-controller',
    component: 'attachdetach-controller',
    watches: [
      watch({ resource: nodes }),
      watch({ resource: pods, keys: podsByNode }),
      watch({
        resource: volumeAttachments,
        onChange: (attachment, old) => attachments.observe((attachment ?? old)?.metadata.name ?? '', attachment),
        *keys(attachment) {
          yield* attachmentsByNode(attachment)
          yield* attachments.nodesWaitingFor(volumeName(attachment))
        },
      }),
      watch({ resource: claims, keys: nodesOfClaim }),
      reads(volumes),
      reads(csiDrivers),
    ],
    reconcile: (node, context) => attachments.sync(node, context),
  }
}

function* nodesOfClaim(claim: PersistentVolumeClaim, caches: Caches): Generator<string> {
  for (const pod of caches.by(pods, claimsOfPod, keyOf(claim))) yield* podsByNode(pod)
}
