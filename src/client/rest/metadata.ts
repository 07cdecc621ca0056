/**
 * Objects of any kind by their metadata alone (PartialObjectMetadata): what those read who care for owners and
 * finalizers only.
 */
import type { ObjectMeta } from '../../machinery/object.ts'
import { collectionPath, objectPath, type Resource } from '../resource.ts'
import type { RestClient, WatchEvent } from './rest-client.ts'

export interface PartialObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

export interface MetadataPage {
  readonly items: readonly PartialObject[]
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
}

const pageSize = 500
const as = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1`

export const getMetadata = async (
  client: RestClient,
  of: Resource,
  namespace: string,
  name: string,
): Promise<PartialObject> => client.read(objectPath(of, namespace, name), as('PartialObjectMetadata'))

/** All objects, or those of a namespace, page by page. */
export async function* metadataPages(client: RestClient, of: Resource, namespace = ''): AsyncGenerator<MetadataPage> {
  for (let from = ''; ; ) {
    const query = new URLSearchParams({ limit: `${pageSize}`, ...(from && { continue: from }) })
    const page: MetadataPage = await client.read(
      `${collectionPath(of, namespace)}?${query}`,
      as('PartialObjectMetadataList'),
    )
    yield { ...page, items: page.items ?? [] }
    from = page.metadata.continue ?? ''
    if (!from) return
  }
}

/** What changes from a version on; ends and throws as `RestClient.watch`. */
export const watchMetadata = (
  client: RestClient,
  of: Resource,
  options: { readonly resourceVersion: string; readonly signal: AbortSignal; readonly namespace?: string },
): AsyncGenerator<WatchEvent<PartialObject>> => client.watch(of, { ...options, accept: as('PartialObjectMetadata') })
