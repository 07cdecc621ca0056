/** Exports images as an archive that is both an OCI image layout and what `docker load` reads. */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { completeName } from '../../../node/images/image-name.ts'
import type { Digest } from '../formats/digest.ts'
import { maxManifestBytes } from '../formats/manifest.ts'
import { mediaTypes } from '../formats/media-types.ts'
import type { ImageStore } from '../store/image-store.ts'
import type { StoredImage } from '../stored-image.ts'
import { archiveEnd, encodeHeader, paddingAfter, plainEntry } from '../tar/tar-writer.ts'

/**
 * Writes images with the names that they are given by, or all of their tags for IDs. Rejects with a NotFound error for
 * a missing image, before anything is written. Does not end the output.
 */
export async function exportArchive(store: ImageStore, references: readonly string[], output: Writable): Promise<void> {
  const images = new Map<Digest, { readonly image: StoredImage; readonly names: Set<string> }>()
  for (const reference of references) {
    const image = store.get(reference)
    const names = images.get(image.id)?.names ?? new Set()
    for (const name of namesFor(image, reference)) names.add(name)
    images.set(image.id, { image, names })
  }
  const all = [...images.values()]
  const write = async (chunk: Buffer): Promise<void> => {
    if (!output.write(chunk)) await once(output, 'drain')
  }
  const file = async (name: string, bytes: Buffer): Promise<void> => {
    await write(encodeHeader(plainEntry(name, { size: bytes.length })))
    await write(bytes)
    await write(paddingAfter(bytes.length))
  }
  await file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}'))
  for (const digest of new Set(all.flatMap(({ image }) => blobsOf(image)))) {
    const size = store.blobs.size(digest)
    await write(encodeHeader(plainEntry(blobName(digest), { size })))
    for await (const chunk of store.blobs.stream(digest)) await write(chunk as Buffer)
    await write(paddingAfter(size))
  }
  await file('index.json', Buffer.from(JSON.stringify(indexOf(store, all))))
  await file('manifest.json', Buffer.from(JSON.stringify(all.map(dockerImage))))
  await write(archiveEnd)
}

const blobsOf = ({ manifest, id, layers }: StoredImage): Digest[] => [
  manifest,
  id,
  ...layers.map(({ digest }) => digest),
]

const blobName = (digest: Digest): string => `blobs/${digest.replace(':', '/')}`

/** The tag of the reference, if it has one. */
function namesFor(image: StoredImage, reference: string): readonly string[] {
  const isId = /^(?:sha256:)?[a-f0-9]{64}$/.test(reference)
  const named = isId ? [] : image.tags.filter((tag) => tag === completeName(reference))
  return named.length > 0 ? named : image.tags
}

type Exported = { readonly image: StoredImage; readonly names: ReadonlySet<string> }

function indexOf(store: ImageStore, images: readonly Exported[]) {
  return {
    schemaVersion: 2,
    mediaType: mediaTypes.index,
    manifests: images.flatMap(({ image, names }) => {
      const bytes = store.blobs.read(image.manifest, maxManifestBytes)
      const { mediaType = mediaTypes.manifest } = JSON.parse(bytes.toString()) as { readonly mediaType?: string }
      const descriptor = { mediaType, digest: image.manifest, size: bytes.length, platform: image.config.platform }
      const annotated = [...names].map((name) => ({
        ...descriptor,
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
        },
      }))
      return annotated.length > 0 ? annotated : [descriptor]
    }),
  }
}

const dockerImage = ({ image, names }: Exported) => ({
  Config: blobName(image.id),
  RepoTags: [...names],
  Layers: image.layers.map(({ digest }) => blobName(digest)),
})
