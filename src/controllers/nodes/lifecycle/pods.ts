/** Pods of a node that is not ready are not ready either: nobody sends them requests. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import { isReady, podCondition } from '../../pods/phase.ts'
import { rfc3339 } from '../../pods/times.ts'
import { unlessGone } from '../../refusals.ts'

export async function markNotReady(pod: Pod, { client, events }: ReconcileContext, now: number): Promise<void> {
  if (!isReady(pod)) return
  const { namespace = '', name = '' } = pod.metadata
  const condition = { ...podCondition(pod, 'Ready'), status: 'False', lastTransitionTime: rfc3339(now) }
  // The uid makes it fail if the pod is another one of that name, the version if somebody was faster.
  const metadata = { uid: pod.metadata.uid, resourceVersion: pod.metadata.resourceVersion }
  await client
    .patch(pods, namespace, name, { metadata, status: { conditions: [condition] } }, 'strategic', 'status')
    .catch(unlessGone)
  events.record(
    { apiVersion: 'v1', kind: 'Pod', namespace, name, uid: pod.metadata.uid },
    'Warning',
    'NodeNotReady',
    'Node is not ready',
  )
}
