/** Images of the store, and the files that they consist of. */
import type { Digest } from './formats/digest.ts'
import type { ImageConfig } from './formats/image-config.ts'

export interface StoredLayer {
  /** The blob's digest: of the compressed archive. */
  readonly digest: Digest
  /** The blob's size in bytes. */
  readonly size: number
  readonly mediaType: string
  /** The digest of the archive. */
  readonly diffId: Digest
  /** The identity of this layer with all below it; names the unpacked folder. */
  readonly chainId: Digest
}

export interface StoredImage {
  /** The digest of its configuration, as in containerd and Docker. */
  readonly id: Digest
  /** Complete names with tags, sorted: `docker.io/library/busybox:latest`. */
  readonly tags: readonly string[]
  /** Complete names with digests, sorted: `docker.io/library/busybox@sha256:…`. */
  readonly digests: readonly string[]
  /** The manifest of this platform. */
  readonly manifest: Digest
  /** The lowest first. */
  readonly layers: readonly StoredLayer[]
  /** Sum of manifest, configuration and compressed layers, in bytes. */
  readonly size: number
  /** Pinned images are never collected. */
  readonly isPinned: boolean
  /** When it was added to this store, in ms since 1970. */
  readonly addedAt: number
  readonly config: ImageConfig
}
