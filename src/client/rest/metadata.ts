/** Reads only the metadata of objects of any kind (PartialObjectMetadata), for code that needs owners or finalizers. */
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
const metadataType = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1`

export const getMetadata = async (
  client: RestClient,
  resource: Resource,
  namespace: string,
  name: string,
): Promise<PartialObject> => client.read(objectPath(resource, namespace, name), metadataType('PartialObjectMetadata'))

/** Yields pages of all objects, or of those in a namespace. */
export async function* metadataPages(
  client: RestClient,
  resource: Resource,
  namespace = '',
): AsyncGenerator<MetadataPage> {
  for (let continueToken = ''; ; ) {
    const query = new URLSearchParams({ limit: `${pageSize}`, ...(continueToken && { continue: continueToken }) })
    const page: MetadataPage = await client.read(
      `${collectionPath(resource, namespace)}?${query}`,
      metadataType('PartialObjectMetadataList'),
    )
    yield { ...page, items: page.items ?? [] }
    continueToken = page.metadata.continue ?? ''
    if (!continueToken) return
  }
}

/** Yields the changes after a resource version; ends and throws as `RestClient.watch`. */
export const watchMetadata = (
  client: RestClient,
  resource: Resource,
  options: { readonly resourceVersion: string; readonly signal: AbortSignal; readonly namespace?: string },
): AsyncGenerator<WatchEvent<PartialObject>> =>
  client.watch(resource, { ...options, accept: metadataType('PartialObjectMetadata') })
