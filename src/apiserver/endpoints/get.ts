/** GET of one object. */
import { after } from '../../lib/flow/after.ts'
import { notFound } from '../../machinery/status-error.ts'
import { representationFor } from '../negotiation/choose.ts'
import type { StoredObject } from '../registry/stored-object.ts'
import { parseResourceVersion } from '../request-options/parameters.ts'
import { type Endpoint, objectResponse } from './endpoint.ts'

export const get: Endpoint = ({ services: { registry }, request, resource }) => {
  const representation = representationFor(request, resource, 'object', registry.clock)
  const { namespace, name } = request.info
  const version = request.query.get('resourceVersion')
  const key = resource.key(namespace, name)
  const found = version
    ? after<unknown, StoredObject | undefined>(registry.cacher(resource).waitFor(parseResourceVersion(version)), () =>
        registry.get(resource, key),
      )
    : registry.current(resource, key)
  return after(found, (object) => {
    if (!object) throw notFound(resource.groupResource, name)
    return objectResponse(representation, object)
  })
}
