/** Removes blobs and unpacked layers that no image, container or lease needs. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Digest, hexOf } from '../formats/digest.ts'
import { decodeManifest, maxManifestBytes } from '../formats/manifest.ts'
import type { BlobStore } from './blob-store.ts'
import type { IndexContent } from './image-index.ts'
import { isAlive, leasedDigests } from './leases.ts'
import { snapshotLayers } from './snapshot-records.ts'
import { withStoreLock } from './store-lock.ts'
import type { StorePaths } from './store-paths.ts'

export interface Collected {
  readonly blobs: number
  readonly layers: number
  /** Of the blobs, in bytes. */
  readonly bytes: number
}

/** A download that failed may be resumed for so long, in ms. */
const resumableMs = 24 * 3600 * 1000

/** Removes what is not needed. Resolves when unpacked layers have been deleted, too. */
export async function collectGarbage(
  paths: StorePaths,
  blobs: BlobStore,
  read: () => IndexContent,
): Promise<Collected> {
  const collected = await withStoreLock(paths.lock, () => {
    const leased = leasedDigests(paths)
    const content = read()
    const bytes = removeBlobs(paths, new Set([...leased, ...blobsOf(content, blobs)].map(hexOf)))
    const chains = [...content.images.values()].flatMap(({ layers }) => layers.map(({ chainId }) => chainId))
    const layers = removeLayers(paths, new Set([...leased, ...chains, ...snapshotLayers(paths)].map(hexOf)))
    removeAbandoned(paths, blobs)
    return { ...bytes, layers }
  })
  await rm(paths.trash, { recursive: true, force: true, maxRetries: 3 })
  return collected
}

/** The blobs that images and names refer to, directly or through manifests. */
function* blobsOf({ images, names }: IndexContent, blobs: BlobStore): Generator<Digest> {
  const manifests = new Set<Digest>()
  for (const [id, { manifest, layers }] of images) {
    manifests.add(manifest)
    yield id
    yield* layers.map(({ digest }) => digest)
  }
  for (const { target, manifest } of names.values()) {
    manifests.add(manifest)
    yield target
  }
  // An index adds its manifests to the set while it is visited.
  for (const digest of manifests) {
    yield digest
    if (!blobs.has(digest)) continue
    const manifest = decodeManifest(blobs.read(digest, maxManifestBytes))
    if (manifest.kind === 'index') for (const child of manifest.manifests) manifests.add(child.digest)
    else {
      yield manifest.config.digest
      yield* manifest.layers.map((layer) => layer.digest)
    }
  }
}

function removeBlobs(paths: StorePaths, needed: ReadonlySet<string>): Pick<Collected, 'blobs' | 'bytes'> {
  let blobs = 0
  let bytes = 0
  for (const name of readdirSync(paths.blobs)) {
    if (needed.has(name)) continue
    const file = join(paths.blobs, name)
    bytes += statSync(file).size
    blobs++
    rmSync(file)
  }
  return { blobs, bytes }
}

/** Moves layers away, so that none is seen while it is half removed. */
function removeLayers(paths: StorePaths, needed: ReadonlySet<string>): number {
  if (!existsSync(paths.layers)) return 0
  const unneeded = readdirSync(paths.layers).filter((name) => !needed.has(name.split('.')[0]!))
  for (const name of unneeded) moveToTrash(paths, join(paths.layers, name))
  return unneeded.length
}

/** A folder in the trash is deleted by the next collection, even if this process ends before. */
export function moveToTrash({ trash }: StorePaths, path: string): string {
  mkdirSync(trash, { recursive: true, mode: 0o700 })
  const target = join(trash, `${basename(path)}.${process.hrtime.bigint()}`)
  renameSync(path, target)
  return target
}

/** Removes what ended processes have left. */
function removeAbandoned(paths: StorePaths, blobs: BlobStore): void {
  for (const name of readdirSync(paths.ingest)) {
    const file = join(paths.ingest, name)
    if (blobs.isAbandoned(name) && statSync(file).mtimeMs < Date.now() - resumableMs) rmSync(file)
  }
  if (!existsSync(paths.unfinished)) return
  for (const name of readdirSync(paths.unfinished)) if (!isAlive(name)) moveToTrash(paths, join(paths.unfinished, name))
}
