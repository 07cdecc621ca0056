/** Images for tests, put together without a registry. */
import { gzipSync } from 'node:zlib'
import { chainIds, digestOf } from '../formats/digest.ts'
import { decodeImageConfig } from '../formats/image-config.ts'
import { mediaTypes } from '../formats/media-types.ts'
import type { StoredImage } from '../stored-image.ts'
import type { TarEntry } from '../tar/tar-entry.ts'
import { archiveEnd, encodeHeader, paddingAfter, plainEntry } from '../tar/tar-writer.ts'
import type { ImageStore } from './image-store.ts'

/** An entry of a layer. */
export type LayerFile = readonly [name: string, content?: string, fields?: Partial<TarEntry>]

/** The archive of a layer. */
export const layerArchive = (files: readonly LayerFile[]): Buffer =>
  Buffer.concat([
    ...files.flatMap(([name, content = '', fields]) => [
      encodeHeader(plainEntry(name, { size: content.length, ...fields })),
      Buffer.from(content),
      paddingAfter(content.length),
    ]),
    archiveEnd,
  ])

/** Adds an image with layers of these files, the lowest first. */
export async function storeImage(
  store: ImageStore,
  name: string,
  layers: readonly (readonly LayerFile[])[],
): Promise<StoredImage> {
  const put = async (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: await store.blobs.put(bytes),
    size: bytes.length,
  })
  const archives = layers.map(layerArchive)
  const diffIds = archives.map(digestOf)
  const blobs = await Promise.all(archives.map((archive) => put(mediaTypes.gzipLayer, gzipSync(archive))))
  const text = JSON.stringify({ os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: diffIds } })
  const config = await put(mediaTypes.config, Buffer.from(text))
  const document = { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: blobs }
  const manifest = await store.blobs.put(Buffer.from(JSON.stringify(document)))
  const chains = chainIds(diffIds)
  return store.add({
    id: config.digest,
    target: manifest,
    names: [name],
    record: {
      manifest,
      size: blobs.reduce((sum, { size }) => sum + size, 0),
      layers: blobs.map((blob, i) => ({ ...blob, diffId: diffIds[i]!, chainId: chains[i]! })),
      config: decodeImageConfig(Buffer.from(text)),
    },
  })
}
