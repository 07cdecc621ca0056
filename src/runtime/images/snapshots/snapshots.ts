/** Root file systems of containers, made of the unpacked layers of an image and a folder for changes. */
import type { RootUsers } from '../../images-interface.ts'
import type { StoreUsage } from '../store/usage.ts'
import type { StoredImage } from '../stored-image.ts'
import type { DriverName } from './snapshot-driver.ts'

/** The arguments of mount(2), as in an OCI bundle or containerd's snapshotters. */
export interface RootMount {
  readonly type: 'overlay' | 'bind' | 'fuse.fuse-overlayfs'
  readonly source: string
  readonly options: readonly string[]
}

/** The part of an image that root file systems are made of. */
export type ImageLayers = Pick<StoredImage, 'id' | 'layers'>

export interface SnapshotOptions {
  /** Without a folder for changes, as for image volumes. Default: false. */
  readonly isReadOnly?: boolean
  readonly signal?: AbortSignal
}

export interface Snapshots {
  readonly driver: DriverName
  /**
   * Creates the root file system of a container, and unpacks the missing layers of the image. Does nothing if it
   * exists. Its layers remain, even if the image is removed.
   */
  prepare(id: string, image: ImageLayers, options?: SnapshotOptions): Promise<void>
  /** The mounts that make the root file system, for a runtime that mounts in a namespace of its own. */
  mounts(id: string): readonly RootMount[]
  /**
   * Mounts it in this namespace and returns the path. Does nothing if it is mounted. Default for `users`: the
   * machine's.
   */
  mount(id: string, users?: RootUsers): Promise<string>
  unmount(id: string): Promise<void>
  /** Writes the container's changes into a new tar file: as a layer, or with the driver `copy`, all of its files. */
  packChanges(id: string, file: string): Promise<void>
  /** The space of the container's changes. */
  usage(id: string): Promise<StoreUsage>
  /** Unmounts and deletes it. Does nothing if it is missing. */
  remove(id: string): Promise<void>
  /** The IDs of all snapshots, those of earlier processes included. */
  list(): string[]
}
