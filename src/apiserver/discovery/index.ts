/** Serves discovery: selects the document by path and Accept header; 304 if the client's copy is current. */
import { toYaml } from '../../machinery/yaml.ts'
import type { Documents } from '../http/documents.ts'
import type { Request, Response } from '../http/exchange.ts'
import { acceptClauses, negotiate, unsupportedTransform } from '../negotiation/accept.ts'
import { indented, wantsPretty } from '../negotiation/pretty.ts'
import type { ApisState } from '../registry/served-apis.ts'
import { type DiscoveryDocument, DiscoveryForms, type PathForms } from './documents.ts'

export interface Discovery {
  /** Returns the handler of a path; undefined for paths that are not discovery's. The handler may throw 406. */
  readonly find: Documents
  /** All paths that `find` knows. */
  readonly paths: () => readonly string[]
}

/**
 * Discovery of the served APIs. `aggregated` is called when a document of all groups is built. `url` returns the URL by
 * which clients reach the server; it is called on the first request.
 */
export function discoveryDocuments(
  apis: { readonly state: ApisState },
  url: () => string,
  aggregated: () => void = () => {},
): Discovery {
  let shown: { readonly state: ApisState; readonly forms: DiscoveryForms } | undefined
  return {
    find: (path) => {
      if (!path.startsWith('/api')) return undefined
      const { state } = apis
      if (shown?.state !== state) shown = { state, forms: new DiscoveryForms(state, new URL(url()).host, aggregated) }
      const found = shown.forms.get(path.endsWith('/') ? path.slice(0, -1) : path)
      return found && ((request) => respond(request, found))
    },
    paths: () => [
      '/api',
      '/apis',
      '/apis/',
      ...apis.state.groups.flatMap(({ group, versions }) => [
        ...(group ? [`/apis/${group}`] : []),
        ...versions.map(({ version }) => (group ? `/apis/${group}/${version}` : `/api/${version}`)),
      ]),
    ],
  }
}

/** Returns the form that the client prefers. Throws 406 if it accepts none. */
export function chooseForm(
  accept: string | undefined,
  forms: PathForms,
): { readonly document: DiscoveryDocument; readonly format: Format } {
  for (const { type, parameters } of acceptClauses(accept ?? '')) {
    const format =
      type === 'application/yaml'
        ? 'yaml'
        : type === 'application/json' || type === 'application/*' || type === '*/*'
          ? 'json'
          : undefined
    const version = parameters.get('v')
    if (!format) continue
    if (!parameters.has('as')) return { document: forms.legacy, format }
    const requested =
      parameters.get('as') === 'APIGroupDiscoveryList' &&
      parameters.get('g') === 'apidiscovery.k8s.io' &&
      version === 'v2'
        ? forms.v2
        : undefined
    if (requested) return { document: requested, format }
  }
  const { format, transform } = negotiate(accept)
  if (transform) throw unsupportedTransform()
  return { document: forms.legacy, format }
}

type Format = 'json' | 'yaml'
type Layout = Format | 'pretty'

const layouts: Readonly<Record<Exclude<Layout, 'json'>, (value: unknown) => string>> = {
  yaml: toYaml,
  pretty: indented,
}

/** Cache of documents in other layouts than compact JSON. */
const layoutCache = { yaml: new WeakMap<DiscoveryDocument, Buffer>(), pretty: new WeakMap<DiscoveryDocument, Buffer>() }

function respond(request: Request, forms: PathForms): Response {
  const { document, format } = chooseForm(request.header('accept'), forms)
  const layout: Layout = format === 'json' && wantsPretty(request) ? 'pretty' : format
  const contentType =
    format === 'yaml' ? document.contentType.replace('application/json', 'application/yaml') : document.contentType
  // Another layout is another representation, which needs its own ETag.
  const etag = layout === 'json' ? document.etag : document.etag.replace(/"$/, `-${layout}"`)
  const headers = { 'content-type': contentType, etag, vary: 'Accept' }
  if (request.header('if-none-match') === etag) return { status: 304, headers }
  return { status: 200, headers, body: layout === 'json' ? document.body : cachedLayout(document, layout) }
}

function cachedLayout(document: DiscoveryDocument, layout: Exclude<Layout, 'json'>): Buffer {
  let body = layoutCache[layout].get(document)
  if (!body)
    layoutCache[layout].set(document, (body = Buffer.from(layouts[layout](JSON.parse(document.body.toString())))))
  return body
}
