/** PUT of an object, or of its status. */
import { representationFor } from '../negotiation/choose.ts'
import { updateObject } from '../registry/write/update-object.ts'
import { decodeObject } from '../request/bodies/decode-object.ts'
import { checkName, checkNamespace } from '../request/identity.ts'
import { namesVersion } from '../request-options/parameters.ts'
import { writeOptions } from '../request-options/write-options.ts'
import { type Endpoint, objectResponse, writeContext } from './endpoint.ts'

export const update: Endpoint = async (target) => {
  const { services, request, resource } = target
  const representation = representationFor(request, resource, 'object', services.registry.clock)
  const options = writeOptions(request.query, 'UpdateOptions')
  const sent = await decodeObject(request, resource, options, services.knowsKind)
  const { namespace, name } = request.info
  checkNamespace(sent, resource, namespace)
  checkName(sent, name)
  const conditional = namesVersion(sent.metadata.resourceVersion)
  // Attempts modify the object. A write that names a version has only one, unless a write hook may refuse the commit.
  const pristine = conditional && !resource.writeHook ? undefined : structuredClone(sent)
  let attempt = 0
  const { object, created } = await updateObject(writeContext(target, options), {
    change: () => ({ object: attempt++ > 0 && pristine ? structuredClone(pristine) : sent }),
    mayCreate: resource.definition.createOnUpdate ?? false,
    uid: sent.metadata.uid,
    conditional,
  })
  return objectResponse(representation, object, created ? 201 : 200)
}
