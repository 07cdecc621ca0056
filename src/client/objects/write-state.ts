/** Writes that say what should be, and do as little as that takes. */
import { semanticallyEqual } from '../../machinery/equality.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { apiVersionOf, type Resource } from '../resource.ts'
import { isConflict } from '../rest/refusals.ts'
import type { RestClient } from '../rest/rest-client.ts'

export interface ObjectName {
  /** Empty for what has none. */
  readonly namespace?: string
  readonly name: string
}

export type WriteResult = 'created' | 'updated' | 'unchanged'

/** Who writes an object that others write too tries this often. */
const mostTries = 10

/**
 * Makes an object be as `change` says. `change` gets the object as it is, or one that has nothing but its name, and
 * returns it as it should be, without changing what it got; it is called again when somebody else was faster. Nothing
 * is written if nothing changes.
 */
export async function createOrUpdate<T extends KubeObject>(
  client: RestClient,
  of: Resource<T>,
  at: ObjectName,
  change: (object: T) => T,
): Promise<WriteResult> {
  const { namespace = '', name } = at
  return again(async () => {
    const present = await client.find(of, namespace, name)
    if (!present) {
      const empty = {
        apiVersion: apiVersionOf(of),
        kind: of.kind,
        metadata: { name, ...(namespace && { namespace }) },
      } as T
      await client.create(of, change(empty))
      return 'created'
    }
    const wanted = change(present)
    if (semanticallyEqual(present, wanted)) return 'unchanged'
    await client.update(of, wanted)
    return 'updated'
  })
}

/** Changes the status of an object, on what it is now; resolves with whether it had to be written. */
export async function updateStatus<T extends KubeObject>(
  client: RestClient,
  of: Resource<T>,
  at: ObjectName,
  change: (object: T) => T,
): Promise<boolean> {
  return again(async () => {
    const present = await client.get(of, at.namespace ?? '', at.name)
    const wanted = change(present)
    if (semanticallyEqual(present, wanted)) return false
    await client.updateStatus(of, wanted)
    return true
  })
}

/** Until nobody is faster. Rejects with the 409 of the last try. */
async function again<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isConflict(error) || tries === mostTries) throw error
    }
  }
}
