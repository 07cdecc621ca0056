/** The configuration of an image that is being built, in the form of its document (OCI image specification). */
import type { ImageStore, NewLayer, Platform, StoredImage, StoredLayer } from '../images/index.ts'
import { addManifest, chainIds, isObject, maxConfigBytes, mediaTypes } from '../images/index.ts'

/** Docker's names; fields of a base image that are unknown here remain. */
export type ContainerConfig = Readonly<Record<string, unknown>>

export interface HistoryEntry {
  readonly created: string
  readonly created_by: string
  readonly comment: string
  readonly empty_layer?: true
}

/** The image after some of its instructions. */
export interface ImageState {
  readonly platform: Platform
  readonly config: ContainerConfig
  readonly author: string
  readonly layers: readonly NewLayer[]
  readonly history: readonly unknown[]
  /** RFC 3339: the time of the last layer. */
  readonly created: string
}

/** An image without files. It is from 1970, so that equal Dockerfiles make equal images. */
export const emptyImage = (platform: Platform): ImageState => ({
  platform,
  config: {},
  author: '',
  layers: [],
  history: [],
  created: '1970-01-01T00:00:00Z',
})

/** The state after `FROM` an image. */
export function imageState(store: ImageStore, image: StoredImage): ImageState {
  const document: unknown = JSON.parse(store.blobs.read(image.id, maxConfigBytes).toString())
  const { config, history, author, created } = isObject(document) ? document : {}
  return {
    platform: image.config.platform,
    config: isObject(config) ? config : {},
    author: typeof author === 'string' ? author : '',
    layers: image.layers.map(({ digest, size, mediaType, diffId }) => ({
      digest,
      size,
      mediaType: ociTypes[mediaType] ?? mediaType,
      diffId,
    })),
    history: Array.isArray(history) ? history : [],
    created: typeof created === 'string' ? created : '1970-01-01T00:00:00Z',
  }
}

/** The manifest is one of OCI, whatever that of the base image is. */
const ociTypes: Readonly<Record<string, string>> = {
  'application/vnd.docker.image.rootfs.diff.tar.gzip': mediaTypes.gzipLayer,
  'application/vnd.docker.image.rootfs.diff.tar': mediaTypes.layer,
}

/** The layers with their identities. */
export function layersOf({ layers }: Pick<ImageState, 'layers'>): StoredLayer[] {
  const chains = chainIds(layers.map(({ diffId }) => diffId))
  return layers.map((layer, index) => ({ ...layer, chainId: chains[index]! }))
}

/** The identity of all files; `scratch` without layers. */
export const filesOf = (state: Pick<ImageState, 'layers'>): string => layersOf(state).at(-1)?.chainId ?? 'scratch'

/** Adds the image to the store. Hold a lease on its layers. */
export async function storeImage(
  store: ImageStore,
  { platform, config, author, layers, history, created }: ImageState,
  names: readonly string[],
  lease: { add(digests: readonly string[]): Promise<void> },
): Promise<StoredImage> {
  const put = async (mediaType: string, document: unknown) => {
    const bytes = Buffer.from(JSON.stringify(document))
    const digest = await store.blobs.put(bytes)
    await lease.add([digest])
    return { mediaType, digest, size: bytes.length }
  }
  const document = {
    created,
    ...(author && { author }),
    ...platform,
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history,
  }
  const manifest = await put(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: await put(mediaTypes.config, document),
    layers: layers.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
  })
  return addManifest(store, manifest.digest, names, platform)
}
