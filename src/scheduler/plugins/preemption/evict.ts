/** Evicts victims of a preemption: sets a condition with the reason, deletes the pod, records an event. */
import { pods as podKind } from '../../../client/kinds.ts'
import { isNotFoundOrConflict } from '../../../client/rest/api-errors.ts'
import type { Handle, PodInfo } from '../../framework/index.ts'

/** Resolves when the pod is being deleted; with false if it was deleted before. Rejects with the error of the API. */
export async function evict(handle: Handle, victim: PodInfo, preemptor: PodInfo, node: string): Promise<boolean> {
  const waiting = handle.waitingPods.get(victim.uid)
  const preparing = handle.preparingPods.get(victim.uid)
  // Pods that are not bound yet are not deleted: they are rescheduled.
  if (waiting) {
    waiting.reject('DefaultPreemption', 'preempted')
    handle.activate([victim.key])
  } else if (preparing) preparing.cancel('preempted by DefaultPreemption')
  else if (!(await remove(handle, victim))) return false
  const note =
    `Preempted by pod ${preemptor.pod.metadata.uid} on node ` +
    `${node}${waiting || preparing ? ' (in kube-scheduler memory).' : ''}`
  handle.record({
    regarding: victim.pod,
    related: preemptor.pod,
    type: 'Normal',
    reason: 'Preempted',
    action: 'Preempting',
    note,
  })
  return true
}

async function remove({ client, profile, now }: Handle, { pod, namespace, name }: PodInfo): Promise<boolean> {
  const { uid, generation } = pod.metadata
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${profile}: preempting to accommodate a higher priority pod`,
    lastTransitionTime: `${new Date(now()).toISOString().slice(0, 19)}Z`,
    observedGeneration: generation,
  }
  try {
    await client.patch(
      podKind,
      namespace,
      name,
      { metadata: { uid }, status: { conditions: [condition] } },
      'strategic',
      'status',
    )
    await client.delete(podKind, namespace, name, { uid })
    return true
  } catch (error) {
    // A deleted or replaced pod frees the resources, too.
    if (isNotFoundOrConflict(error)) return false
    throw error
  }
}

/** Clears `status.nominatedNodeName`. */
export async function clearNomination({ client }: Handle, { pod, namespace, name }: PodInfo): Promise<void> {
  if (!pod.status?.nominatedNodeName) return
  await client.patch(
    podKind,
    namespace,
    name,
    { metadata: { uid: pod.metadata.uid }, status: { nominatedNodeName: null } },
    'strategic',
    'status',
  )
}
