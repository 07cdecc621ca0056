/** GET of one object. */
import { notFound } from '../../machinery/status-error.ts'
import { representationFor } from '../negotiation/choose.ts'
import { parseResourceVersion } from '../request/parameters.ts'
import { type Endpoint, objectResponse } from './endpoint.ts'

export const get: Endpoint = async ({ services: { registry }, request, resource }) => {
  const representation = representationFor(request, resource, 'object')
  const { namespace, name } = request.info
  const version = request.query.get('resourceVersion')
  if (version) await registry.cacher(resource).waitFor(parseResourceVersion(version))
  const object = await registry.get(resource, resource.key(namespace, name))
  if (!object) throw notFound(resource.groupResource, name)
  return objectResponse(representation, object)
}
