/** The tables of endpoints by method. A new verb is a file here and a line in one of these tables. */

import type { SpecialSubresource } from '../../api/resource.ts'
import { own } from '../../lib/own.ts'
import { methodNotAllowed, methodNotSupported, notFound, resourceNotFound } from '../../machinery/status-error.ts'
import type { Request } from '../http/exchange.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { create } from './create.ts'
import { remove } from './delete.ts'
import { deleteCollection } from './delete-collection.ts'
import type { Endpoint } from './endpoint.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import { specialSubresources } from './special/index.ts'
import { getScale, patchScale, updateScale } from './special/scale.ts'
import { update } from './update.ts'
import { virtualResources } from './virtual/index.ts'
import { watch } from './watch/watch.ts'

type ByMethod = Readonly<Partial<Record<string, Endpoint>>>

/** `…/pods/NAME` */
export const itemEndpoints: ByMethod = { GET: get, PUT: update, PATCH: patch, DELETE: remove }

/** `…/pods`, by method and verb. */
export const collectionEndpoints: Readonly<Partial<Record<string, Readonly<Partial<Record<string, Endpoint>>>>>> = {
  GET: { list, watch },
  POST: { create },
  DELETE: { deletecollection: deleteCollection },
}

/** Subresources that return the object, and write a part of it. */
const objectEndpoints: ByMethod = { GET: get, PUT: update, PATCH: patch }
const scaleEndpoints: ByMethod = { GET: getScale, PUT: updateScale, PATCH: patchScale }

/** `…/pods/NAME/status` and the like. Throws 404 for unknown subresources, 405 for methods they do not have. */
export function subresourceEndpoint(request: Request, { definition, groupResource }: ServedResource): Endpoint {
  const { subresource, name, verb } = request.info
  const { status, scale, special } = definition.subresources ?? {}
  const part = special?.find(({ name }) => name === subresource)
  const endpoints =
    subresource === 'status' && status
      ? objectEndpoints
      : subresource === 'scale' && scale
        ? scaleEndpoints
        : part && endpointsOf(definition.plural, part)
  if (!endpoints) throw definition.custom ? notFound(groupResource, name) : resourceNotFound()
  const endpoint = own(endpoints, request.method)
  if (!endpoint) throw definition.custom ? methodNotSupported(groupResource, verb) : methodNotAllowed()
  return endpoint
}

/** The endpoints of a special subresource: either a part of the object with its own rules, or endpoints of its own. */
function endpointsOf(plural: string, { name, verbs, writes }: SpecialSubresource): ByMethod {
  if (!writes) return specialSubresources[`${plural}/${name}`] ?? {}
  return Object.fromEntries(
    verbs.map((verb) => (verb === 'get' ? ['GET', get] : verb === 'patch' ? ['PATCH', patch] : ['PUT', update])),
  )
}

/** Resources that are computed, not stored. */
export function virtualEndpoint(
  request: Request,
  { definition, groupResource }: ServedResource,
  hasName: boolean,
): Endpoint {
  const endpoints = virtualResources[definition.kind]
  if (!endpoints) throw resourceNotFound()
  const { verb, path } = request.info
  // These responses have no name.
  if ((hasName && !endpoints.get) || path.includes('/watch/')) throw resourceNotFound()
  const endpoint = own(endpoints, hasName && verb === 'get' ? 'get' : verb)
  if (endpoint) return endpoint
  if (request.method === 'GET' && endpoints.list) throw methodNotSupported(groupResource, verb)
  throw methodNotAllowed()
}
