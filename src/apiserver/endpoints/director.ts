/** The director: finds the endpoint for a request by its path and method. */

import { settle } from '../../lib/flow/settle.ts'
import { own } from '../../lib/own.ts'
import { methodNotAllowed, methodNotSupported, resourceNotFound } from '../../machinery/status-error.ts'
import { type Handler, pageNotFound, type Request } from '../http/exchange.ts'
import { RetiredError } from '../registry/cache/cacher.ts'
import type { ServedApis } from '../registry/served-apis.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import type { Endpoint, Services } from './endpoint.ts'
import { collectionEndpoints, itemEndpoints, subresourceEndpoint, virtualEndpoint } from './index.ts'

export interface DirectorOptions {
  readonly services: Services
  readonly apis: ServedApis
  /**
   * Resolves when `apis` has all resources that were served before the call: another server of the store may serve one
   * already. Undefined if no other server writes to the store.
   */
  readonly catchUp: (() => Promise<unknown>) | undefined
  /** Called with each request for a deprecated API. */
  readonly requestedDeprecated: (request: Request) => void
  /** Answers paths that are no resources; undefined if there is no handler. */
  readonly other: (request: Request) => ReturnType<Handler> | undefined
}

export function director({ services, apis, catchUp, requestedDeprecated, other }: DirectorOptions): Handler {
  const direct: Handler = (request) => {
    const { info } = request
    if (!info.isResourceRequest) {
      const answer = other(request)
      if (answer) return answer
      if (info.prefix && info.version && apis.isBuiltIn(info.group)) throw resourceNotFound()
      return pageNotFound()
    }
    const resource = apis.find(info.group, info.version, info.resource)
    if (resource) return serve(request, resource)
    if (catchUp)
      return catchUp().then(() => {
        const added = apis.find(info.group, info.version, info.resource)
        return added ? serve(request, added) : missing(request)
      })
    return missing(request)
  }

  /** In a group of Kubernetes' own it is a missing resource; elsewhere a missing page. */
  const missing: Handler = (request) => {
    if (apis.isBuiltIn(request.info.group)) throw resourceNotFound()
    return pageNotFound()
  }

  function serve(request: Request, resource: ServedResource): ReturnType<Handler> {
    const { deprecationWarning } = resource.definition
    if (deprecationWarning) {
      requestedDeprecated(request)
      request.warnings.push(deprecationWarning)
      request.audit?.annotate('k8s.io/deprecated', 'true')
    }
    const endpoint = endpointOf(request, resource)
    const target = { services, request, resource }
    if (!resource.definition.custom || request.method !== 'GET') return endpoint(target)
    return settle(
      () => endpoint(target),
      (response) => response,
      (error) => {
        // Its definition has changed during the read: read again, as it is served now.
        if (error instanceof RetiredError) return direct(request)
        throw error
      },
    )
  }
  return direct
}

const noSuchPage: Endpoint = pageNotFound

/** The verbs that a method is authorized as. `watch` and `proxy` in a path lead to other verbs. */
const verbsOfMethods: Readonly<Record<string, readonly string[]>> = {
  GET: ['get', 'list', 'watch'],
  HEAD: ['get', 'list', 'watch'],
  POST: ['create'],
  PUT: ['update'],
  PATCH: ['patch'],
  DELETE: ['delete', 'deletecollection'],
  // For proxies only: it has no verb.
  OPTIONS: [''],
}

function endpointOf(request: Request, resource: ServedResource): Endpoint {
  const { method, info } = request
  // A request must not do anything but the verb it was authorized for: a permission to watch is none to write.
  if (info.verb === 'proxy') throw resourceNotFound()
  const verbs = own(verbsOfMethods, method)
  if (!verbs?.includes(info.verb)) throw methodNotAllowed()
  if (info.subresource && info.verb !== verbs[0]) throw resourceNotFound()
  const isNamespaceItself = resource.definition.plural === 'namespaces' && resource.definition.group === ''
  const everywhere = resource.namespaced && !info.namespace
  if (
    resource.definition.custom &&
    (everywhere ? info.verb !== 'list' && info.verb !== 'watch' : !resource.namespaced && info.namespace)
  )
    return noSuchPage
  if (!resource.namespaced && info.namespace && !isNamespaceItself) throw resourceNotFound()
  const watchPath = info.verb === 'watch' && info.path.includes('/watch/')
  // Lists of one object by field selector have a name too: distinguish them by the path.
  const hasName = info.name !== '' && (method !== 'GET' || info.verb === 'get') && info.verb !== 'deletecollection'
  if (resource.definition.virtual) return virtualEndpoint(request, resource, hasName)
  if (info.subresource) {
    if (everywhere) throw resourceNotFound()
    return subresourceEndpoint(request, resource)
  }
  if (watchPath) return supported(collectionEndpoints.GET!.watch!, 'watch', resource)
  if (hasName) {
    if (everywhere) throw resourceNotFound()
    const endpoint = own(itemEndpoints, method)
    if (!endpoint || !resource.verbs.has(info.verb)) throw methodNotAllowed()
    return endpoint
  }
  const endpoint = own(own(collectionEndpoints, method), info.verb)
  if (!endpoint || (everywhere && method !== 'GET')) throw methodNotAllowed()
  if (method !== 'GET' && !resource.verbs.has(info.verb)) throw methodNotAllowed()
  return supported(endpoint, info.verb, resource)
}

function supported(endpoint: Endpoint, verb: string, resource: ServedResource): Endpoint {
  if (!resource.verbs.has(verb)) throw methodNotSupported(resource.groupResource, verb)
  return endpoint
}
