/** Root file systems in the folder of an image store. They outlive this process and reboots. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RootUsers } from '../../images-interface.ts'
import { ImageError, imageNotFound } from '../image-error.ts'
import { LayerStore } from '../layers/layer-store.ts'
import type { LayerLimits } from '../layers/layer-writer.ts'
import { packFolder } from '../layers/pack-folder.ts'
import { moveToTrash } from '../store/garbage-collector.ts'
import type { ImageStore } from '../store/image-store.ts'
import { ownName } from '../store/leases.ts'
import { readSnapshot, recordFile, type SnapshotRecord, snapshotIds } from '../store/snapshot-records.ts'
import { withStoreLock } from '../store/store-lock.ts'
import { type StoreUsage, usageOf } from '../store/usage.ts'
import type { StoredImage, StoredLayer } from '../stored-image.ts'
import { TarFile } from '../tar/tar-file.ts'
import { isMountPoint, mountAt, unmountAt } from './linux-mounts.ts'
import { canMapUsers, mountMapped } from './mapped-mounts.ts'
import { chooseDriver, type DriverName, formatOf, rootMount } from './snapshot-driver.ts'
import type { ImageLayers, RootMount, SnapshotOptions, Snapshots } from './snapshots.ts'

const run = promisify(execFile)

export interface LayeredSnapshotsOptions {
  readonly store: ImageStore
  /** Default: the best one that works here. */
  readonly driver?: DriverName
  readonly limits?: Partial<LayerLimits>
}

export class LayeredSnapshots implements Snapshots {
  readonly #store: ImageStore
  readonly #layers: LayerStore
  readonly driver: DriverName

  private constructor(store: ImageStore, driver: DriverName, limits: Partial<LayerLimits>) {
    this.#store = store
    this.driver = driver
    this.#layers = new LayerStore({ store, format: formatOf(driver), limits })
  }

  static async open({ store, driver, limits = {} }: LayeredSnapshotsOptions): Promise<LayeredSnapshots> {
    return new LayeredSnapshots(store, driver ?? (await chooseDriver(store.paths)), limits)
  }

  /** Unpacks the layers of an image, so that a container starts without waiting. */
  async unpack(image: StoredImage, signal?: AbortSignal): Promise<void> {
    await this.#withLayers(image.layers, signal, async () => {})
  }

  async prepare(id: string, image: ImageLayers, { isReadOnly = false, signal }: SnapshotOptions = {}): Promise<void> {
    const folder = this.#folder(id)
    if (existsSync(folder)) return
    await this.#withLayers(image.layers, signal, async (layers) => {
      const { unfinished, snapshots } = this.#store.paths
      const fresh = join(unfinished, `${ownName()}.${randomBytes(6).toString('hex')}`)
      const path = (name: string): string => join(fresh, name)
      for (const name of ['work', 'rootfs', 'empty']) mkdirSync(path(name), { recursive: true })
      const top = layers.at(-1)
      if (!isReadOnly) makeUpper(path('upper'), top)
      if (this.driver === 'copy') {
        mkdirSync(path('copy'))
        if (top) await run('cp', ['-a', `${top}/.`, path('copy')])
      }
      const chains = image.layers.map(({ chainId }) => chainId)
      const record: SnapshotRecord = { image: image.id, layers: chains, driver: this.driver }
      writeFileSync(path(recordFile), JSON.stringify(record), { mode: 0o600 })
      mkdirSync(snapshots, { recursive: true, mode: 0o711 })
      renameSync(fresh, folder)
    })
  }

  /** Calls `use` with a folder that has the files of all layers, and removes it afterwards. */
  async view<Result>(id: string, image: ImageLayers, use: (root: string) => Promise<Result>): Promise<Result> {
    const top = image.layers.at(-1)
    // Complete copies need no mount, which only root could make.
    if (this.driver === 'copy' && top) return this.#withLayers(image.layers, undefined, (all) => use(all.at(-1)!))
    try {
      await this.prepare(id, image, { isReadOnly: true })
      return await use(top ? await this.mount(id) : join(this.#folder(id), 'empty'))
    } finally {
      await this.remove(id)
    }
  }

  /** The folder with the changes of a container: in the form of overlayfs, unless the driver is `copy`. */
  changes(id: string): string {
    return join(this.#folder(id), this.driver === 'copy' ? 'copy' : 'upper')
  }

  mounts(id: string): readonly RootMount[] {
    const record = this.#recordOf(id)
    return [this.#rootMount(id, record, this.#layersOf(record))]
  }

  #recordOf(id: string): SnapshotRecord {
    const record = readSnapshot(this.#store.paths, id)
    if (!record) throw imageNotFound(`root file system ${id}`)
    return record
  }

  #layersOf({ layers }: SnapshotRecord): string[] {
    return layers.map((chainId) => this.#layers.folder(chainId))
  }

  #rootMount(id: string, { driver }: SnapshotRecord, layers: readonly string[]): RootMount {
    const path = (name: string): string => join(this.#folder(id), name)
    return rootMount(driver as DriverName, {
      layers,
      ...(existsSync(path('upper')) && { upper: path('upper') }),
      work: path('work'),
      copy: path('copy'),
      empty: path('empty'),
    })
  }

  async mount(id: string, users?: RootUsers): Promise<string> {
    const folder = this.#folder(id)
    const target = join(folder, 'rootfs')
    if (isMountPoint(target)) return target
    if (users) await this.#mountFor(users, id, target)
    else for (const mount of this.mounts(id)) await mountAt(mount, target)
    return target
  }

  /** The layers are mounted with other owners first. The overlay holds these mounts, so that their paths can go. */
  async #mountFor(users: RootUsers, id: string, target: string): Promise<void> {
    const record = this.#recordOf(id)
    if (!canMapUsers(record.driver as DriverName))
      throw new ImageError(
        'FailedPrecondition',
        `user namespaces need overlayfs and Linux 5.19: images use ${record.driver}`,
      )
    const folder = this.#folder(id)
    const upper = join(folder, 'upper')
    if (existsSync(upper)) chownSync(upper, users.uid, users.gid)
    const sources = this.#layersOf(record)
    const mapped = sources.map((_, number) => join(folder, 'mapped', String(number)))
    try {
      for (const [number, source] of sources.entries()) {
        mkdirSync(mapped[number]!, { recursive: true })
        mountMapped(source, mapped[number]!, users.namespace)
      }
      await mountAt(this.#rootMount(id, record, mapped), target)
    } finally {
      for (const path of mapped) unmountAt(path)
    }
  }

  async unmount(id: string): Promise<void> {
    unmountAt(join(this.#folder(id), 'rootfs'))
  }

  async packChanges(id: string, file: string): Promise<void> {
    const archive = await TarFile.create(file)
    try {
      await packFolder(this.changes(id), archive, { isOverlay: this.#recordOf(id).driver !== 'copy' })
      await archive.finish()
    } catch (error) {
      await archive.close()
      throw error
    }
  }

  usage(id: string): Promise<StoreUsage> {
    return usageOf([this.changes(id)])
  }

  async remove(id: string): Promise<void> {
    const folder = this.#folder(id)
    if (!existsSync(folder)) return
    await this.unmount(id)
    const trash = await withStoreLock(this.#store.paths.lock, () => moveToTrash(this.#store.paths, folder))
    await rm(trash, { recursive: true, force: true })
  }

  list(): string[] {
    return snapshotIds(this.#store.paths)
  }

  /** Layers are leased until a snapshot records that it needs them. */
  async #withLayers<Result>(
    layers: readonly StoredLayer[],
    signal: AbortSignal | undefined,
    use: (folders: readonly string[]) => Promise<Result>,
  ): Promise<Result> {
    const lease = this.#store.lease()
    try {
      await lease.add(layers.flatMap(({ chainId, digest }) => [chainId, digest]))
      return await use(await this.#layers.ensure(layers, signal))
    } finally {
      lease.release()
    }
  }

  #folder(id: string): string {
    if (!/^[A-Za-z0-9][\w.-]{0,127}$/.test(id))
      throw new ImageError('InvalidArgument', `${JSON.stringify(id)} is no ID`)
    return join(this.#store.paths.snapshots, id)
  }
}

/** The root of an overlay has the attributes of the folder for changes. */
function makeUpper(path: string, top: string | undefined): void {
  mkdirSync(path)
  const { mode, uid, gid } = top ? statSync(top) : { mode: 0o755, uid: 0, gid: 0 }
  if (process.geteuid?.() === 0) chownSync(path, uid, gid)
  chmodSync(path, mode & 0o7777)
}
