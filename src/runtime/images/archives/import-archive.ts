/** Imports images from archives: those of the OCI image layout, and those of `docker save`. */
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { completeName } from '../../../node/images/image-name.ts'
import type { Digest } from '../formats/digest.ts'
import { decodeImageConfig, maxConfigBytes } from '../formats/image-config.ts'
import {
  type Descriptor,
  decodeManifest,
  isObject,
  maxManifestBytes,
  type Platform,
  textOf,
} from '../formats/manifest.ts'
import { mediaTypes } from '../formats/media-types.ts'
import { hostPlatform } from '../formats/platform.ts'
import { corruptContent, ImageError } from '../image-error.ts'
import { decompressionOf } from '../layers/unpack-layer.ts'
import { addManifest } from '../store/add-manifest.ts'
import type { ImageStore } from '../store/image-store.ts'
import type { Lease } from '../store/leases.ts'
import type { StoredImage } from '../stored-image.ts'
import { type ArchiveFile, readDocument, type UnpackedArchive, unpackArchive } from './unpacked-archive.ts'

export interface ImportOptions {
  /** Default: this machine's. */
  readonly platform?: Platform
  /** The name of an image that has none in the archive. */
  readonly name?: string
}

interface Importing {
  readonly store: ImageStore
  readonly archive: UnpackedArchive
  readonly lease: Lease
  readonly platform: Platform
  readonly name: string | undefined
}

/**
 * Imports all images of an archive: that of a file, or one that arrives uncompressed. Rejects with an ImageError for
 * a file that is no archive of images, or if content does not agree with its digest.
 */
export async function importArchive(
  store: ImageStore,
  source: string | Readable,
  { platform = hostPlatform(), name }: ImportOptions = {},
): Promise<StoredImage[]> {
  if (typeof source === 'string' && !existsSync(source)) throw new ImageError('NotFound', `${source} does not exist`)
  const archive = await unpackArchive(source, store.paths)
  const lease = store.lease()
  try {
    const importing = { store, archive, lease, platform, name }
    const index = archive.file('index.json')
    if (index && archive.file('oci-layout')) return await importLayout(importing, index)
    const manifest = archive.file('manifest.json')
    if (manifest) return await importDocker(importing, manifest)
    const file = typeof source === 'string' ? source : 'the archive'
    throw corruptContent(`${file} contains neither index.json nor manifest.json: it is no archive of images`)
  } finally {
    lease.release()
    await archive.remove()
  }
}

async function importLayout(importing: Importing, file: ArchiveFile): Promise<StoredImage[]> {
  const index = decodeManifest(readDocument(file, maxManifestBytes), mediaTypes.index)
  if (index.kind !== 'index') throw corruptContent('index.json is no index')
  const images: StoredImage[] = []
  for (const descriptor of index.manifests) {
    await moveDocuments(importing, descriptor, true)
    const names = layoutNames(descriptor, importing.name)
    images.push(await addManifest(importing.store, descriptor.digest, names, importing.platform))
  }
  return images
}

/** Moves a manifest with its blobs, or an index with those of its manifests that the archive has, to the store. */
async function moveDocuments(importing: Importing, { digest }: Descriptor, isRequired: boolean): Promise<void> {
  const { archive, store } = importing
  const file = archive.file(blobName(digest))
  if (!file && !store.blobs.has(digest)) {
    if (isRequired) throw missing(digest)
    return
  }
  await move(importing, digest)
  const manifest = decodeManifest(store.blobs.read(digest, maxManifestBytes))
  if (manifest.kind === 'index') for (const child of manifest.manifests) await moveDocuments(importing, child, false)
  else for (const blob of [manifest.config, ...manifest.layers]) await move(importing, blob.digest)
}

const blobName = (digest: Digest): string => `blobs/${digest.replace(':', '/')}`

async function move({ archive, store, lease }: Importing, digest: Digest): Promise<void> {
  await lease.add([digest])
  if (store.blobs.has(digest)) return
  const file = archive.file(blobName(digest))
  if (!file) throw missing(digest)
  if (file.digest !== digest) throw corruptContent(`${blobName(digest)} has the digest ${file.digest}`)
  store.blobs.adopt(file.path, digest)
}

const missing = (digest: Digest): ImageError => corruptContent(`the archive does not contain ${digest}`)

/** containerd writes complete names; others write a tag alone, or nothing. */
function layoutNames({ annotations, digest }: Descriptor, given: string | undefined): string[] {
  const complete = annotations['io.containerd.image.name']
  const reference = annotations['org.opencontainers.image.ref.name']
  if (complete) return [completeName(complete)]
  if (reference && /[:/]/.test(reference)) return [completeName(reference)]
  if (given) return [completeName(given)]
  throw new ImageError(
    'InvalidArgument',
    `the image ${reference ? JSON.stringify(reference) : digest} has no complete name: choose one with --name`,
  )
}

interface DockerImage {
  readonly config: string
  readonly tags: readonly string[]
  readonly layers: readonly string[]
}

async function importDocker(importing: Importing, file: ArchiveFile): Promise<StoredImage[]> {
  const images: StoredImage[] = []
  for (const image of decodeDockerManifest(readDocument(file, maxManifestBytes)))
    images.push(await importDockerImage(importing, image))
  return images
}

/** Layers are named by files, so the manifest is made here. */
async function importDockerImage(importing: Importing, { config, tags, layers }: DockerImage): Promise<StoredImage> {
  const { archive, store, lease, platform, name } = importing
  const fileOf = (path: string): ArchiveFile => {
    const file = archive.file(path)
    if (!file) throw corruptContent(`the archive does not contain ${path}`)
    return file
  }
  const configBytes = readDocument(fileOf(config), maxConfigBytes)
  decodeImageConfig(configBytes)
  const files = layers.map(fileOf)
  await lease.add([fileOf(config), ...files].map(({ digest }) => digest))
  const stored = files.map(({ path, digest, size }) => {
    // The same layer can occur twice, and its file has then moved.
    const mediaType = decompressionOf(existsSync(path) ? path : store.blobs.path(digest))
      ? mediaTypes.gzipLayer
      : mediaTypes.layer
    if (!store.blobs.has(digest)) store.blobs.adopt(path, digest)
    return { mediaType, digest, size }
  })
  const configDigest = await store.blobs.put(configBytes)
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.config, digest: configDigest, size: configBytes.length },
    layers: stored,
  }
  const bytes = Buffer.from(JSON.stringify(manifest))
  const names = (tags.length > 0 || !name ? tags : [name]).map(completeName)
  if (names.length === 0)
    throw new ImageError('InvalidArgument', `the image ${configDigest} has no name: choose one with --name`)
  const digest = await store.blobs.put(bytes)
  await lease.add([digest])
  return addManifest(store, digest, names, platform)
}

function decodeDockerManifest(bytes: Buffer): DockerImage[] {
  let images: unknown
  try {
    images = JSON.parse(bytes.toString())
  } catch {
    images = undefined
  }
  if (!Array.isArray(images) || !images.every(isObject)) throw corruptContent('manifest.json is not a list of images')
  return images.map(({ Config, RepoTags, Layers }) => ({
    config: textOf(Config),
    tags: textsOf(RepoTags),
    layers: textsOf(Layers),
  }))
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
