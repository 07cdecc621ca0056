/** PATCH of an object or its status. Server-side apply is in `apply.ts`. */
import { representationFor } from '../negotiation/choose.ts'
import { updateObject } from '../registry/write/update-object.ts'
import { applyType } from '../request/bodies/read-applied.ts'
import { readPatch } from '../request/bodies/read-patch.ts'
import { checkName, checkNamespace } from '../request/identity.ts'
import { mediaType } from '../request-options/body.ts'
import { writeOptions } from '../request-options/write-options.ts'
import { apply } from './apply.ts'
import { type Endpoint, objectResponse, writeContext } from './endpoint.ts'

export const patch: Endpoint = async (target) => {
  const { services, request, resource } = target
  if (mediaType(request) === applyType) return apply(target)
  const representation = representationFor(request, resource, 'object', services.registry.clock)
  const options = writeOptions(request.query, 'PatchOptions')
  const { patched, conditional } = await readPatch(request, resource, options)
  const { namespace, name } = request.info
  const { object } = await updateObject(writeContext(target, options), {
    change: async (live) => {
      const object = await patched(live!)
      checkName(object, name)
      checkNamespace(object, resource, namespace)
      return { object }
    },
    // Patches do not modify their input, and decoding creates a new object; custom objects are pruned in place.
    startsFromLive: resource.definition.custom !== undefined,
    conditional,
  })
  return objectResponse(representation, object)
}
