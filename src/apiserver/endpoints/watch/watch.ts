/** Watches: changes of a collection (or of one object of it), streamed as one JSON document per line. */
import type { Request, Response } from '../../http/exchange.ts'
import { representationFor } from '../../negotiation/choose.ts'
import { type Selection, selection } from '../../registry/cache/selection.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { type ListOptions, listOptions } from '../../request-options/list-options.ts'
import { parseResourceVersion } from '../../request-options/parameters.ts'
import type { Endpoint } from '../endpoint.ts'
import { WatchStream } from './watch-stream.ts'

export const watch: Endpoint = async ({ request, resource, services }) => {
  const representation = representationFor(request, resource, 'watch', services.registry.clock)
  const options = listOptions(request.query, resource, true)
  const version = parseResourceVersion(options.resourceVersion)
  await services.registry.cacher(resource).ready()
  const form = {
    resource,
    selection: selected(request, resource, options),
    representation,
    view: services.registry.view(resource).show,
  }
  const { promise: initialised, resolve } = Promise.withResolvers<void>()
  let stream: WatchStream | undefined
  return {
    status: 200,
    initialised,
    sentEvents: () => stream?.sentEvents ?? 0,
    headers: { 'content-type': representation.contentType },
    body: (sink) => {
      stream = new WatchStream({
        services,
        form,
        range: resource.range(request.info.namespace),
        options,
        version,
        sink,
        initialised: resolve,
      })
      stream.start()
    },
  } satisfies Response
}

/** `/api/v1/watch/…/NAME` watches a single object. */
function selected(request: Request, resource: ServedResource, { labels, fields }: ListOptions): Selection {
  const { namespace, name, path } = request.info
  const range = resource.range(namespace)
  if (!name || !path.includes('/watch/')) return selection(range.start, labels, fields)
  const key = resource.key(namespace, name)
  const within = selection(key, labels, fields)
  return { key: within.key, selectsAll: false, matches: (object) => object.key === key && within.matches(object) }
}
