/** GET of a collection. */
import { after } from '../../lib/flow/after.ts'
import { representationFor } from '../negotiation/choose.ts'
import { listObjects } from '../registry/cache/list/list-objects.ts'
import { listOptions } from '../request-options/list-options.ts'
import type { Endpoint } from './endpoint.ts'

export const list: Endpoint = ({ services: { registry }, request, resource }) => {
  const representation = representationFor(request, resource, 'list', registry.clock)
  const options = listOptions(request.query, resource, false)
  return after(listObjects(registry, resource, request.info.namespace, options), ({ objects, meta }) => ({
    status: 200,
    headers: { 'content-type': representation.contentType },
    body: representation.list(objects, meta),
  }))
}
