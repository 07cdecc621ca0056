/** Builds an image of one layer from a folder that is a complete root file system. */
import { statSync } from 'node:fs'
import { completeName } from '../../node/images/image-name.ts'
import {
  hostPlatform,
  ImageError,
  type ImageStore,
  LayerArchive,
  type Platform,
  packFolder,
  type StoredImage,
} from '../images/index.ts'
import { type ContainerConfig, emptyImage, storeImage } from './image-document.ts'

export interface RootfsOptions {
  readonly store: ImageStore
  readonly folder: string
  readonly names: readonly string[]
  /** By Docker's names. */
  readonly config: ContainerConfig
  /** Default: this machine's. */
  readonly platform?: Platform
  /** Later times of files are replaced by this one, in seconds since 1970. */
  readonly latest?: number
}

/** Root's files have the owners that they have here; those of another user belong to root in the image. */
export async function buildRootfs(options: RootfsOptions): Promise<StoredImage> {
  const { store, folder, config, platform = hostPlatform(), latest } = options
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new ImageError('InvalidArgument', `${folder} is no folder: --rootfs must name one`)
  const names = options.names.map(completeName)
  const lease = store.lease()
  const archive = new LayerArchive(store)
  const user = process.geteuid?.() ?? 0
  try {
    await packFolder(folder, archive, {
      isOverlay: false,
      latest,
      ...(user !== 0 && { change: (entry) => (entry.uid === user ? { ...entry, uid: 0, gid: 0 } : entry) }),
    })
    const layer = await archive.finish(lease)
    const created = new Date(latest === undefined ? Date.now() : latest * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
    const entry = { created, created_by: `--rootfs ${folder}`, comment: 't8s image build' }
    const state = { ...emptyImage(platform), config, layers: [layer], history: [entry], created }
    return await storeImage(store, state, names, lease)
  } catch (error) {
    archive.discard()
    throw error
  } finally {
    lease.release()
  }
}
