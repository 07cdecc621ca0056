/** Writes that bring an object to a desired state, and do nothing if it is in that state. */
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { apiVersionOf, type Resource } from '../resource.ts'
import { isConflict } from '../rest/api-errors.ts'
import type { RestClient } from '../rest/rest-client.ts'

/** The name of an object in its namespace. */
export interface ObjectName {
  /** Empty for a cluster-scoped object. */
  readonly namespace?: string
  readonly name: string
}

/** The effect of `createOrUpdate`. */
export type WriteResult = 'created' | 'updated' | 'unchanged'

/** Attempts while other clients write the same object. */
const maxAttempts = 10

/**
 * Creates or updates an object, as controller-runtime's `CreateOrUpdate`. `change` gets the current object, or one with
 * only a name if it does not exist, and returns the desired object without modifying its argument. It is called again
 * after a conflict. Writes nothing if nothing changes.
 * @example
 * await createOrUpdate(client, configMaps, { namespace: 'default', name: 'a' }, (configMap) => ({
 *   ...configMap,
 *   data: { ...configMap.data, a: 'b' },
 * }))
 */
export async function createOrUpdate<T extends KubeObject>(
  client: RestClient,
  resource: Resource<T>,
  { namespace = '', name }: ObjectName,
  change: (object: T) => T,
): Promise<WriteResult> {
  return retryOnConflict(async () => {
    const current = await client.find(resource, namespace, name)
    if (!current) {
      const empty = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { name, ...(namespace && { namespace }) },
      } as T
      await client.create(resource, change(empty))
      return 'created'
    }
    const desired = change(current)
    if (semanticallyEqual(current, desired)) return 'unchanged'
    await client.update(resource, desired)
    return 'updated'
  })
}

/**
 * Updates the status of an object, based on its current state; `change` is called again after a conflict. Resolves with
 * false if nothing had to be written.
 * @example
 * await updateStatus(client, fleets, { namespace, name }, (fleet) => ({ ...fleet, status: { ready: 3 } }))
 */
export async function updateStatus<T extends KubeObject>(
  client: RestClient,
  resource: Resource<T>,
  { namespace = '', name }: ObjectName,
  change: (object: T) => T,
): Promise<boolean> {
  return retryOnConflict(async () => {
    const current = await client.get(resource, namespace, name)
    const desired = change(current)
    if (semanticallyEqual(current, desired)) return false
    await client.updateStatus(resource, desired)
    return true
  })
}

/** Retries after conflicts. Rejects with the 409 of the last attempt. */
async function retryOnConflict<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isConflict(error) || tries === maxAttempts) throw error
    }
  }
}
