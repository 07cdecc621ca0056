/** The files of an image store. */
import { join } from 'node:path'
import { type Digest, hexOf } from '../formats/digest.ts'

export interface StorePaths {
  readonly root: string
  readonly index: string
  /** Owned by the process that changes the store. */
  readonly lock: string
  readonly blobs: string
  /** Downloads that have not ended. */
  readonly ingest: string
  readonly leases: string
  /** Folders that are being made. */
  readonly unfinished: string
  /** Unpacked layers by chain ID. */
  readonly layers: string
  /** Root file systems of containers by ID. */
  readonly snapshots: string
  /** Folders on their way out. */
  readonly trash: string
}

export const storePaths = (root: string): StorePaths => ({
  root,
  index: join(root, 'index.json'),
  lock: join(root, 'lock'),
  blobs: join(root, 'blobs/sha256'),
  ingest: join(root, 'ingest'),
  leases: join(root, 'leases'),
  unfinished: join(root, 'unfinished'),
  layers: join(root, 'layers'),
  snapshots: join(root, 'snapshots'),
  trash: join(root, 'trash'),
})

export const layerPath = ({ layers }: StorePaths, chainId: Digest): string => join(layers, hexOf(chainId))
