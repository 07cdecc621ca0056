/** Fetches OpenAPI from the servers of aggregated APIs: the URL of the v3 document, and the part of the v2 document. */
import { type Backend, type FetchedDocument, fetchDocument } from '../../outgoing/index.ts'
import type { GroupVersion } from '../api-service.ts'
import { aggregatorUser, identityHeaders } from '../remote/identity-headers.ts'
import type { OpenApiV2 } from './merge-v2.ts'

export interface RemoteOpenApi {
  /** URL of the v3 document of the group version: a path with its hash, from the server's index. */
  readonly v3: string | undefined
  /** The part of the v2 document for the group version. */
  readonly v2: OpenApiV2 | undefined
  /** ETag of the v2 document. */
  readonly v2Etag: string | undefined
}

const fetchTimeoutMs = 10_000

interface V3Index {
  readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: string }>>
}

/** Servers may lack these documents. Rejects if the server cannot be reached. */
export async function fetchOpenApi(
  groupVersion: GroupVersion,
  backend: Backend,
  known: RemoteOpenApi | undefined,
): Promise<RemoteOpenApi> {
  const identity = identityHeaders(aggregatorUser)
  const [index, v2] = await Promise.all([
    fetchDocument(backend, '/openapi/v3', { ...identity, accept: 'application/json' }, fetchTimeoutMs),
    fetchDocument(
      backend,
      '/openapi/v2',
      { ...identity, accept: 'application/json', ...(known?.v2Etag && { 'if-none-match': known.v2Etag }) },
      fetchTimeoutMs,
    ),
  ])
  const path = `apis/${groupVersion.group}/${groupVersion.version}`
  const v3 = parsed<V3Index>(index)?.paths?.[path]?.serverRelativeURL
  if (v2.status === 304 && known) return { ...known, v3 }
  const document = parsed<OpenApiV2>(v2)
  return { v3, v2: document && onlyPaths(document, `/${path}/`), v2Etag: v2.headers.etag }
}

const parsed = <T>({ status, body }: FetchedDocument): T | undefined =>
  status === 200 ? (JSON.parse(body.toString()) as T) : undefined

function onlyPaths({ paths = {}, definitions, parameters }: OpenApiV2, prefix: string): OpenApiV2 {
  return {
    paths: Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith(prefix))),
    definitions,
    parameters,
  }
}
