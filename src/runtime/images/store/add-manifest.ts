/** Adds images to the store whose documents and layers are present as blobs. */
import { chainIds, type Digest } from '../formats/digest.ts'
import { decodeImageConfig, type ImageConfig, maxConfigBytes } from '../formats/image-config.ts'
import { type Descriptor, decodeManifest, type Manifest, maxManifestBytes, type Platform } from '../formats/manifest.ts'
import { chooseManifest } from '../formats/platform.ts'
import { corruptContent } from '../image-error.ts'
import type { StoredImage, StoredLayer } from '../stored-image.ts'
import type { BlobStore } from './blob-store.ts'
import type { ImageStore } from './image-store.ts'

/**
 * Adds the image of a manifest, or the one of an index for a platform, with names. Hold a lease on all blobs. Rejects
 * with an ImageError if a blob is missing or not valid.
 */
export async function addManifest(
  store: ImageStore,
  target: Digest,
  names: readonly string[],
  platform: Platform,
): Promise<StoredImage> {
  const { digest, manifest, size } = readManifest(store.blobs, target, platform)
  const config = decodeImageConfig(store.blobs.read(manifest.config.digest, maxConfigBytes))
  for (const layer of manifest.layers)
    if (store.blobs.size(layer.digest) !== layer.size)
      throw corruptContent(`${layer.digest} has another size than the ${layer.size} bytes of its descriptor`)
  const record = imageRecord(digest, manifest, config, size)
  return store.add({ id: manifest.config.digest, record, names, target })
}

/** `manifestBytes` is the size of the manifest. */
export function imageRecord(digest: Digest, { config, layers }: Manifest, decoded: ImageConfig, manifestBytes: number) {
  const size = [config, ...layers].reduce((sum, { size: bytes }) => sum + bytes, manifestBytes)
  return { manifest: digest, layers: storedLayers(layers, decoded), size, config: decoded }
}

/** Joins the layers of manifest and configuration. Throws an ImageError if their numbers differ. */
function storedLayers(layers: readonly Descriptor[], { diffIds }: ImageConfig): StoredLayer[] {
  if (layers.length !== diffIds.length)
    throw corruptContent(`the manifest has ${layers.length} layers, the configuration ${diffIds.length}`)
  const chains = chainIds(diffIds)
  return layers.map(({ digest, size, mediaType }, i) => ({
    digest,
    size,
    mediaType,
    diffId: diffIds[i]!,
    chainId: chains[i]!,
  }))
}

/** An index may point to another index, so deep. */
const maxDepth = 3

function readManifest(blobs: BlobStore, target: Digest, platform: Platform) {
  let digest = target
  for (let depth = 0; depth <= maxDepth; depth++) {
    const bytes = blobs.read(digest, maxManifestBytes)
    const manifest = decodeManifest(bytes)
    if (manifest.kind === 'manifest') return { digest, manifest, size: bytes.length }
    // Archives and pushes often have one platform only.
    const present = manifest.manifests.filter((child) => blobs.has(child.digest))
    digest = chooseManifest({ kind: 'index', manifests: present }, platform).digest
  }
  throw corruptContent(`more than ${maxDepth} indexes lead to the manifest`)
}
