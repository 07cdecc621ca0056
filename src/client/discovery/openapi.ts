/** The OpenAPI documents of a server. */
import type { RestClient } from '../rest/rest-client.ts'

/** A document; which version of OpenAPI it is in is its `openapi` or `swagger`. */
export interface OpenApiDocument {
  readonly openapi?: string
  readonly swagger?: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: Readonly<Record<string, object>>
  /** The schemas of OpenAPI v3. */
  readonly components?: { readonly schemas?: Readonly<Record<string, object>> }
  /** The schemas of OpenAPI v2. */
  readonly definitions?: Readonly<Record<string, object>>
}

interface Index {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>
}

/**
 * The group versions that have a document (`api/v1`, `apis/apps/v1`), and the URL of each. The URL changes with the
 * document, so that it may be cached.
 * @example const urls = await openApiIndex(client); urls.get('apis/apps/v1')
 */
export async function openApiIndex(client: RestClient): Promise<ReadonlyMap<string, string>> {
  const { paths } = await client.read<Index>('/openapi/v3')
  return new Map(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]))
}

/**
 * The OpenAPI v3 document of a group version. Rejects with an Error if the server has none.
 * @example const { components } = await openApiDocument(client, 'apis/apps/v1')
 */
export async function openApiDocument(client: RestClient, path: string): Promise<OpenApiDocument> {
  const url = (await openApiIndex(client)).get(path)
  if (url === undefined) throw new Error(`the server has no OpenAPI v3 document for ${path}`)
  return client.read(url)
}

/**
 * The OpenAPI v2 document, of all group versions at once: megabytes.
 * @example const { definitions } = await openApiV2(client)
 */
export const openApiV2 = (client: RestClient): Promise<OpenApiDocument> => client.read('/openapi/v2')
