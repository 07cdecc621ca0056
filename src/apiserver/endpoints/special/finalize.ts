/** `namespaces/NAME/finalize`: changes `spec.finalizers`, which nothing else can. */
import type { KubeObject } from '../../../machinery/object.ts'
import { representationFor } from '../../negotiation/representation.ts'
import { decodeObject } from '../../request/decode-object.ts'
import { checkName } from '../../request/identity.ts'
import { writeOptions } from '../../request/write-options.ts'
import { updateObject } from '../../registry/update-object.ts'
import { type Endpoint, objectResponse, writeContext } from '../endpoint.ts'

interface Namespace extends KubeObject {
  status?: unknown
}

export const finalizeNamespace: Endpoint = async (target) => {
  const { services, request, resource } = target
  const representation = representationFor(request, resource, 'object')
  const options = writeOptions(request.query, 'UpdateOptions')
  const sent = await decodeObject(request, resource, options, services.knowsKind)
  checkName(sent, request.info.name)
  const { object } = await updateObject(writeContext(target, options), {
    change: (live) => {
      const object = structuredClone(sent) as Namespace
      object.status = (live as Namespace).status
      return { object }
    },
    uidIsPrecondition: true,
    retries: 5,
  })
  return objectResponse(representation, object)
}
