/** DELETE of a collection: deletes the selected objects one by one; the response lists them as they were before. */
import { StatusError } from '../../machinery/status-error.ts'
import { representationFor } from '../negotiation/choose.ts'
import { listObjects } from '../registry/cache/list/list-objects.ts'
import { deleteObject } from '../registry/write/delete-object.ts'
import { deleteOptions } from '../request-options/delete-options.ts'
import { listOptions } from '../request-options/list-options.ts'
import { type Endpoint, writeContext } from './endpoint.ts'

/** Concurrent deletes, which share flushes to disk. */
const parallel = 16

export const deleteCollection: Endpoint = async (target) => {
  const { services, request, resource } = target
  const representation = representationFor(request, resource, 'list', services.registry.clock)
  const selected = listOptions(request.query, resource, false)
  const options = await deleteOptions(request)
  const { objects, meta } = await listObjects(services.registry, resource, request.info.namespace, selected)
  const context = writeContext(target, {
    dryRun: options.dryRun,
    fieldManager: '',
    fieldValidation: 'Ignore',
    force: false,
  })
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < objects.length) {
      const { name, namespace } = objects[next++]!
      try {
        await deleteObject({ ...context, name, namespace, nameless: true }, options)
      } catch (error) {
        if (error instanceof StatusError && error.code === 404) continue
        // Stop the other workers too: the remaining objects are not deleted.
        next = objects.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, objects.length) }, worker))
  return {
    status: 200,
    headers: { 'content-type': representation.contentType },
    body: representation.list(objects, meta),
  }
}
