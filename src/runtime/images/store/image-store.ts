/**
 * Images on this machine: content by digest, and an index of names. Several processes may use one store; a crash at any
 * time leaves the old or the new state.
 */

import { mkdirSync } from 'node:fs'
import { messageOf } from '../../../lib/message-of.ts'
import { completeName, parseImageName } from '../../../node/images/image-name.ts'
import { type Digest, isDigest } from '../formats/digest.ts'
import { imageNotFound, invalidReference } from '../image-error.ts'
import type { StoredImage } from '../stored-image.ts'
import { BlobStore } from './blob-store.ts'
import { type Collected, collectGarbage } from './garbage-collector.ts'
import { ImageIndexFile, type ImageRecord, type IndexContent, type NameRecord } from './image-index.ts'
import { createLease, type Lease } from './leases.ts'
import { withStoreLock } from './store-lock.ts'
import { type StorePaths, storePaths } from './store-paths.ts'
import { type StoreUsage, usageOf } from './usage.ts'

/** An image whose blobs are present. */
export interface NewImage {
  /** The digest of its configuration. */
  readonly id: Digest
  readonly record: Omit<ImageRecord, 'isPinned' | 'addedAt'>
  /** Complete names, with tags or digests. Names move here from other images. */
  readonly names: readonly string[]
  /** The document that the names stand for. */
  readonly target: Digest
}

interface MutableContent extends IndexContent {
  readonly images: Map<Digest, ImageRecord>
  readonly names: Map<string, NameRecord>
}

export class ImageStore {
  readonly paths: StorePaths
  readonly blobs: BlobStore
  readonly #index: ImageIndexFile

  /** Opens a folder, and creates it if it is missing. */
  constructor(root: string) {
    this.paths = storePaths(root)
    // Processes of containers pass through it to their root file systems.
    mkdirSync(root, { recursive: true, mode: 0o711 })
    this.blobs = new BlobStore(this.paths)
    this.#index = new ImageIndexFile(this.paths.index)
  }

  /** All images, the newest first. */
  list(): StoredImage[] {
    const content = this.#index.read()
    return [...content.images.keys()]
      .map((id) => storedImage(content, id))
      .sort((a, b) => b.addedAt - a.addedAt || (a.id < b.id ? -1 : 1))
  }

  /**
   * Finds an image by name with tag or digest (`busybox`, `busybox@sha256:…`), by ID, or by the first digits of an ID
   * if they name one image only. Throws an InvalidArgument error for a text that is neither.
   */
  find(reference: string): StoredImage | undefined {
    const content = this.#index.read()
    const id = findId(content, reference)
    return id === undefined ? undefined : storedImage(content, id)
  }

  /** As `find`; throws a NotFound error for a missing image. */
  get(reference: string): StoredImage {
    const image = this.find(reference)
    if (!image) throw imageNotFound(reference)
    return image
  }

  /** All complete names with the documents that they stand for. */
  names(): { readonly name: string; readonly target: Digest }[] {
    return [...this.#index.read().names].map(([name, { target }]) => ({ name, target }))
  }

  /** Adds an image, or names to one. Hold a lease on its blobs until then. */
  async add({ id, record, names, target }: NewImage): Promise<StoredImage> {
    return this.#change((content) => {
      const present = content.images.get(id)
      const kept = present && this.#hasLayers(present) ? present : record
      content.images.set(id, { ...kept, isPinned: present?.isPinned ?? false, addedAt: present?.addedAt ?? Date.now() })
      for (const name of names) content.names.set(name, { target, manifest: record.manifest, image: id })
      return id
    })
  }

  /** Gives an image one more name with a tag. Throws a NotFound error for a missing image. */
  async tag(reference: string, name: string): Promise<StoredImage> {
    const complete = completeNameOf(name)
    return this.#change((content) => {
      const id = requireId(content, reference)
      const { target, manifest } = nameOf(content, id, reference)
      content.names.set(complete, { target, manifest, image: id })
      return id
    })
  }

  /** Pinned images are not collected by kubelets. Throws a NotFound error for a missing image. */
  async pin(reference: string, isPinned = true): Promise<StoredImage> {
    return this.#change((content) => {
      const id = requireId(content, reference)
      content.images.set(id, { ...content.images.get(id)!, isPinned })
      return id
    })
  }

  /**
   * Removes an image with all its names, as CRI does, and then what no other image and no container needs. Does nothing
   * for a missing image.
   */
  async remove(reference: string): Promise<Collected> {
    await this.#write((content) => {
      const id = findId(content, reference)
      if (id) removeImage(content, id)
    })
    return this.collectGarbage()
  }

  /** Removes one name, and the image if it was the last one with a tag. Throws a NotFound error for a missing name. */
  async untag(name: string): Promise<Collected> {
    const complete = completeNameOf(name)
    await this.#write((content) => {
      const record = content.names.get(complete)
      if (!record) throw imageNotFound(complete)
      content.names.delete(complete)
      if (namesOf(content, record.image).every((other) => other.includes('@'))) removeImage(content, record.image)
    })
    return this.collectGarbage()
  }

  /** Protects content that no image refers to yet. */
  lease(): Lease {
    return createLease(this.paths)
  }

  /** Removes blobs and unpacked layers that no image, container or lease needs. */
  collectGarbage(): Promise<Collected> {
    return collectGarbage(this.paths, this.blobs, () => this.#index.read())
  }

  /** The space that images take: blobs and unpacked layers, without containers. */
  usage(): Promise<StoreUsage> {
    return usageOf([this.paths.blobs, this.paths.ingest, this.paths.layers])
  }

  #hasLayers({ layers }: ImageRecord): boolean {
    return layers.every(({ digest }) => this.blobs.has(digest))
  }

  async #change(change: (content: MutableContent) => Digest): Promise<StoredImage> {
    const id = await this.#write(change)
    return storedImage(this.#index.read(), id)
  }

  #write<Result>(change: (content: MutableContent) => Result): Promise<Result> {
    return withStoreLock(this.paths.lock, () => {
      const { version, images, names } = this.#index.read()
      const content = { version, images: new Map(images), names: new Map(names) }
      const result = change(content)
      this.#index.write(content)
      return result
    })
  }
}

function completeNameOf(name: string): string {
  try {
    return completeName(name)
  } catch (error) {
    throw invalidReference(messageOf(error), error)
  }
}

const idPattern = /^(?:sha256:)?[a-f0-9]{1,64}$/

function findId(content: IndexContent, reference: string): Digest | undefined {
  const { images, names } = content
  const isId = idPattern.test(reference)
  if (isDigest(reference) || /^[a-f0-9]{64}$/.test(reference)) {
    const id = reference.startsWith('sha256:') ? reference : `sha256:${reference}`
    return images.has(id) ? id : undefined
  }
  const name = isId && reference.startsWith('sha256:') ? undefined : names.get(nameOrDigest(reference))
  if (name) return name.image
  if (!isId) return undefined
  const prefix = reference.startsWith('sha256:') ? reference : `sha256:${reference}`
  const matches = [...images.keys()].filter((id) => id.startsWith(prefix))
  return matches.length === 1 ? matches[0] : undefined
}

/** A name with both tag and digest means the digest, as in containerd. */
function nameOrDigest(reference: string): string {
  const complete = completeNameOf(reference)
  const { repository, digest } = parseImageName(reference)
  return digest ? `${repository}@${digest}` : complete
}

function requireId(content: IndexContent, reference: string): Digest {
  const id = findId(content, reference)
  if (!id) throw imageNotFound(reference)
  return id
}

/** Returns the record of the name; for an ID, that of any of its names. */
function nameOf(content: IndexContent, id: Digest, reference: string): NameRecord {
  const direct = idPattern.test(reference) ? undefined : content.names.get(nameOrDigest(reference))
  const [first = ''] = namesOf(content, id)
  const { manifest } = content.images.get(id)!
  return direct ?? content.names.get(first) ?? { target: manifest, manifest, image: id }
}

const namesOf = ({ names }: IndexContent, id: Digest): string[] =>
  [...names].filter(([, { image }]) => image === id).map(([name]) => name)

function removeImage(content: MutableContent, id: Digest): void {
  content.images.delete(id)
  for (const name of namesOf(content, id)) content.names.delete(name)
}

function storedImage(content: IndexContent, id: Digest): StoredImage {
  const names = namesOf(content, id).sort()
  return {
    id,
    tags: names.filter((name) => !name.includes('@')),
    digests: names.filter((name) => name.includes('@')),
    ...content.images.get(id)!,
  }
}
