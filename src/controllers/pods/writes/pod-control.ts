/** Creates and deletes pods for their owner and records events on it. */
import type { ReconcileContext } from '../../../client/controller/controller.ts'
import { type Pod, pods } from '../../../client/kinds.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { isNamespaceTerminating, isNotFound, messageOf } from '../../api-errors.ts'

type Context = Pick<ReconcileContext, 'client' | 'events'>

/** Creates a pod of `owner`. Rejects with the server's error. */
export async function createPod(pod: Pod, owner: KubeObject, { client, events }: Context): Promise<Pod> {
  try {
    const created = await client.create(pods, pod)
    events.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
    return created
  } catch (error) {
    if (!isNamespaceTerminating(error))
      events.record(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`)
    throw error
  }
}

/** Deletes a pod of `owner`. Rejects with the server's error; a missing pod (404) records no event. */
export async function deletePod(
  { metadata: { namespace = '', name = '' } }: Pod,
  owner: KubeObject,
  { client, events }: Context,
): Promise<void> {
  try {
    await client.delete(pods, namespace, name)
    events.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`)
  } catch (error) {
    if (!isNotFound(error)) events.record(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`)
    throw error
  }
}
