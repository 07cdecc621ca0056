/** Pods of a node that is not ready are not ready either: nobody sends them requests. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import { isReady, type PodCondition } from '../../pods/phase.ts'
import { rfc3339 } from '../../pods/times.ts'
import { unlessGone } from '../../refusals.ts'

export async function markNotReady(pod: Pod, { client, events }: ReconcileContext, now: number): Promise<void> {
  if (!isReady(pod)) return
  const { namespace = '', name = '' } = pod.metadata
  const conditions = pod.status?.conditions?.map(
    (condition): PodCondition => (condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: rfc3339(now) } : condition),
  )
  await client.updateStatus(pods, { ...pod, status: { ...pod.status, conditions } }).catch(unlessGone)
  events.tell({ apiVersion: 'v1', kind: 'Pod', namespace, name, uid: pod.metadata.uid }, 'Warning', 'NodeNotReady', 'Node is not ready')
}
