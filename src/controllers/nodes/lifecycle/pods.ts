/** Marks pods of an unready node as not ready, so that they get no traffic. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import { ignoreNotFound } from '../../api-errors.ts'
import { isReady, podCondition } from '../../pods/phase.ts'
import { rfc3339 } from '../../pods/times.ts'

export async function markNotReady(pod: Pod, { client, events }: ReconcileContext, now: number): Promise<void> {
  if (!isReady(pod)) return
  const { namespace = '', name = '' } = pod.metadata
  const condition = { ...podCondition(pod, 'Ready'), status: 'False', lastTransitionTime: rfc3339(now) }
  // The patch fails if the pod was replaced (uid) or has changed (resourceVersion).
  const metadata = { uid: pod.metadata.uid, resourceVersion: pod.metadata.resourceVersion }
  await client
    .patch(pods, namespace, name, { metadata, status: { conditions: [condition] } }, 'strategic', 'status')
    .catch(ignoreNotFound)
  events.record(
    { apiVersion: 'v1', kind: 'Pod', namespace, name, uid: pod.metadata.uid },
    'Warning',
    'NodeNotReady',
    'Node is not ready',
  )
}
