/** Finalizers, which keep a deleted object until its owner has cleaned up. */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Resource } from '../resource.ts'
import type { RestClient } from '../rest/rest-client.ts'

/**
 * Returns true if the object has the finalizer.
 * @example if (hasFinalizer(fleet, 'example.com/cleanup')) await cleanUp(fleet)
 */
export const hasFinalizer = ({ metadata: { finalizers = [] } }: KubeObject, finalizer: string): boolean =>
  finalizers.includes(finalizer)

/**
 * Returns a copy of the object with the finalizer, or the object itself if it has it.
 * @example await client.create(fleets, withFinalizer(fleet, 'example.com/cleanup'))
 */
export const withFinalizer = <T extends KubeObject>(object: T, finalizer: string): T =>
  hasFinalizer(object, finalizer)
    ? object
    : { ...object, metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), finalizer] } }

/**
 * Returns a copy of the object without the finalizer, or the object itself if it does not have it.
 * @example await client.update(fleets, withoutFinalizer(fleet, 'example.com/cleanup'))
 */
export const withoutFinalizer = <T extends KubeObject>(object: T, finalizer: string): T =>
  hasFinalizer(object, finalizer)
    ? {
        ...object,
        metadata: { ...object.metadata, finalizers: object.metadata.finalizers?.filter((name) => name !== finalizer) },
      }
    : object

/**
 * Adds a finalizer to an object that is not being deleted; resolves with the stored object. Rejects with a StatusError
 * 409 if the object has changed.
 * @example const marked = await addFinalizer(client, fleets, fleet, 'example.com/cleanup')
 */
export async function addFinalizer<T extends KubeObject>(
  client: RestClient,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer) || object.metadata.deletionTimestamp) return object
  return writeFinalizers(client, resource, withFinalizer(object, finalizer))
}

/**
 * Removes a finalizer; resolves if the object does not exist. Rejects with a StatusError 409 if the object has changed.
 * @example await removeFinalizer(client, fleets, fleet, 'example.com/cleanup')
 */
export async function removeFinalizer<T extends KubeObject>(
  client: RestClient,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  if (!hasFinalizer(object, finalizer)) return
  await writeFinalizers(client, resource, withoutFinalizer(object, finalizer)).catch((error) => {
    if (!(error instanceof StatusError && error.code === 404)) throw error
  })
}

/** Patches the whole list, with the resourceVersion as precondition: other fields may be newer than ours. */
function writeFinalizers<T extends KubeObject>(client: RestClient, resource: Resource<T>, { metadata }: T): Promise<T> {
  const { namespace = '', name = '', resourceVersion, finalizers = [] } = metadata
  return client.patch(
    resource,
    namespace,
    name,
    { metadata: { resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null } },
    'merge',
  )
}
