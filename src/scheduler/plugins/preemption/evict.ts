/** Evicts the victims of a preemption: a condition that says why, the deletion, an event. */
import { pods as podKind } from '../../../client/kinds.ts'
import { isNotFoundOrConflict } from '../../../client/rest/api-errors.ts'
import type { Handle, PodInfo } from '../../framework/index.ts'

/** Resolves when the pod is being deleted; with false if it had gone before. Rejects as the API does. */
export async function evict(handle: Handle, victim: PodInfo, preemptor: PodInfo, node: string): Promise<boolean> {
  const waiting = handle.waitingPods.get(victim.uid)
  const preparing = handle.preparingPods.get(victim.uid)
  // Who was not bound yet is not deleted: it may look for another place.
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
    // Who has gone, or is another by now, makes room too.
    if (isNotFoundOrConflict(error)) return false
    throw error
  }
}

/** Takes the nomination of pods away that have to look for room elsewhere. */
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
