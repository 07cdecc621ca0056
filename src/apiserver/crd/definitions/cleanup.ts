/** Deletes all objects of a definition that is being deleted, and waits until none remains. */
import { StatusError } from '../../../machinery/status-error.ts'
import type { Registry } from '../../registry/registry.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { deleteObject } from '../../registry/write/delete-object.ts'
import type { Writer } from '../../registry/write/write-context.ts'

/** Objects deleted in parallel. */
const batchSize = 50
/** Interval at which remaining objects (held by finalizers) are counted, in ms. */
const pollMs = 100

/** Resolves when no object remains, or `signal` is aborted. Rejects if objects cannot be read or deleted. */
export async function deleteInstances(
  registry: Registry,
  storage: ServedResource,
  writer: Writer,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await deleteRemaining(registry, storage, writer, signal)
    if ((await registry.storeOf(storage).count(storage.range(''))) === 0) return
    await new Promise((resolve) => setTimeout(resolve, pollMs).unref())
  }
}

/** Deletes all objects that are not being deleted yet. Creations in progress may add more. */
async function deleteRemaining(
  registry: Registry,
  storage: ServedResource,
  writer: Writer,
  signal: AbortSignal,
): Promise<void> {
  const { objects } = await registry.cacher(storage).ready()
  const all = [...objects.slice(storage.range(''))].filter((object) => !object.parse().metadata.deletionTimestamp)
  for (let start = 0; start < all.length && !signal.aborted; start += batchSize) {
    await Promise.all(
      all.slice(start, start + batchSize).map(async ({ namespace, name }) => {
        try {
          await deleteObject({ ...writer, resource: storage, namespace, name, subresource: '' }, { dryRun: false })
        } catch (error) {
          if (!(error instanceof StatusError && error.code === 404)) throw error
        }
      }),
    )
  }
}
