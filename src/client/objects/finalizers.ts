/** Finalizers: what keeps a deleted object until somebody has cleaned up after it. */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Resource } from '../resource.ts'
import type { RestClient } from '../rest/rest-client.ts'

/** Whether a finalizer is there. */
export const hasFinalizer = ({ metadata: { finalizers = [] } }: KubeObject, finalizer: string): boolean =>
  finalizers.includes(finalizer)

/** The object with the finalizer; itself if it has it. */
export const withFinalizer = <T extends KubeObject>(object: T, finalizer: string): T =>
  hasFinalizer(object, finalizer)
    ? object
    : { ...object, metadata: { ...object.metadata, finalizers: [...(object.metadata.finalizers ?? []), finalizer] } }

/** The object without the finalizer; itself if it does not have it. */
export const withoutFinalizer = <T extends KubeObject>(object: T, finalizer: string): T =>
  hasFinalizer(object, finalizer)
    ? {
        ...object,
        metadata: { ...object.metadata, finalizers: object.metadata.finalizers?.filter((name) => name !== finalizer) },
      }
    : object

/**
 * Adds a finalizer to an object that lives; resolves with the object as it is then. Rejects with a 409 if somebody else
 * has changed it.
 */
export async function addFinalizer<T extends KubeObject>(
  client: RestClient,
  of: Resource<T>,
  object: T,
  finalizer: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer) || object.metadata.deletionTimestamp) return object
  return writeFinalizers(client, of, withFinalizer(object, finalizer))
}

/** Takes a finalizer away; an object that has gone is as good. Rejects with a 409 if somebody else has changed it. */
export async function removeFinalizer<T extends KubeObject>(
  client: RestClient,
  of: Resource<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  if (!hasFinalizer(object, finalizer)) return
  await writeFinalizers(client, of, withoutFinalizer(object, finalizer)).catch((error) => {
    if (!(error instanceof StatusError && error.code === 404)) throw error
  })
}

/** The list as a whole, on condition that nothing has changed: other fields may be newer than we know. */
function writeFinalizers<T extends KubeObject>(client: RestClient, of: Resource<T>, { metadata }: T): Promise<T> {
  const { namespace = '', name = '', resourceVersion, finalizers = [] } = metadata
  return client.patch(
    of,
    namespace,
    name,
    { metadata: { resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null } },
    'merge',
  )
}
