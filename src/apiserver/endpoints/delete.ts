/** DELETE of an object. */
import { success } from '../../machinery/status-error.ts'
import { representationFor } from '../negotiation/choose.ts'
import { statusResponse } from '../negotiation/error-response.ts'
import { deleteObject } from '../registry/write/delete-object.ts'
import { deleteOptions } from '../request-options/delete-options.ts'
import { type Endpoint, objectResponse, writeContext } from './endpoint.ts'

export const remove: Endpoint = async (target) => {
  const { services, request, resource } = target
  const representation = representationFor(request, resource, 'object', services.registry.clock)
  const options = await deleteOptions(request)
  const { deletion } = resource.definition
  if (
    deletion?.defaultPropagationWarning &&
    options.propagationPolicy === undefined &&
    options.orphanDependents === undefined
  )
    request.warnings.push(deletion.defaultPropagationWarning)
  const { object, removed, uid } = await deleteObject(
    writeContext(target, { dryRun: options.dryRun, fieldManager: '', fieldValidation: 'Ignore', force: false }),
    options,
  )
  // As upstream: 202 only if the client used the deprecated `orphanDependents: false`.
  if (!removed && options.orphanDependents === false) return objectResponse(representation, object, 202)
  if (!removed || deletion?.returnsObject) return objectResponse(representation, object)
  const { definition } = resource
  return statusResponse(
    request,
    success({ name: object.name, ...(definition.group && { group: definition.group }), kind: definition.plural, uid }),
    200,
  )
}
