/** POST to a collection. */
import { representationFor } from '../negotiation/choose.ts'
import { createObject } from '../registry/write/create-object.ts'
import { decodeObject } from '../request/bodies/decode-object.ts'
import { checkNamespace } from '../request/identity.ts'
import { writeOptions } from '../request-options/write-options.ts'
import { type Endpoint, objectResponse, writeContext } from './endpoint.ts'

export const create: Endpoint = async (target) => {
  const { services, request, resource } = target
  const representation = representationFor(request, resource, 'object', services.registry.clock)
  const options = writeOptions(request.query, 'CreateOptions')
  const object = await decodeObject(request, resource, options, services.knowsKind)
  checkNamespace(object, resource, request.info.namespace)
  return objectResponse(representation, await createObject(writeContext(target, options), object), 201)
}
