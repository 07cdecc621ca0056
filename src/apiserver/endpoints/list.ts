/** GET of a collection. */
import { representationFor } from '../negotiation/choose.ts'
import { listObjects } from '../registry/cache/list-objects.ts'
import { listOptions } from '../request/list-options.ts'
import type { Endpoint } from './endpoint.ts'

export const list: Endpoint = async ({ services: { registry }, request, resource }) => {
  const representation = representationFor(request, resource, 'list')
  const options = listOptions(request.query, resource, false)
  const { objects, meta } = await listObjects(registry, resource, request.info.namespace, options)
  return { status: 200, headers: { 'content-type': representation.contentType }, body: representation.list(objects, meta) }
}
