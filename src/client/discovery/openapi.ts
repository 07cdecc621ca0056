/** The OpenAPI documents of a server. */
import type { RestClient } from '../rest/rest-client.ts'

/** A document; `openapi` or `swagger` is its version of OpenAPI. */
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
 * Returns the URLs of the documents by group version (`api/v1`, `apis/apps/v1`). A URL changes with its document, so
 * that the document can be cached.
 * @example const urls = await openApiIndex(client); urls.get('apis/apps/v1')
 */
export async function openApiIndex(client: RestClient): Promise<ReadonlyMap<string, string>> {
  const { paths } = await client.read<Index>('/openapi/v3')
  return new Map(Object.entries(paths).map(([path, { serverRelativeURL }]) => [path, serverRelativeURL]))
}

/**
 * Returns the OpenAPI v3 document of a group version. Rejects with an Error if the server has none.
 * @example const { components } = await openApiDocument(client, 'apis/apps/v1')
 */
export async function openApiDocument(client: RestClient, path: string): Promise<OpenApiDocument> {
  const url = (await openApiIndex(client)).get(path)
  if (url === undefined) throw new Error(`the server has no OpenAPI v3 document for ${path}`)
  return client.read(url)
}

/**
 * Returns the OpenAPI v2 document of all group versions (several megabytes).
 * @example const { definitions } = await openApiV2(client)
 */
export const openApiV2 = (client: RestClient): Promise<OpenApiDocument> => client.read('/openapi/v2')
