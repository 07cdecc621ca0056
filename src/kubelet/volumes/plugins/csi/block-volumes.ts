/**
 * CSI volumes without a file system: the driver puts the device at a path of the kubelet, and a symlink in the pod's
 * folder leads there. Paths are upstream's.
 */
import { lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Pod } from '../../../pod-types.ts'
import { undefinedIfMissing } from '../../files/missing.ts'
import { removeIfEmpty, unmountAll } from '../../mounts/clear-folder.ts'
import { mountAt } from '../../mounts/mount-table.ts'
import type { Mounter } from '../../mounts/mounter.ts'
import { type DeviceVolume, MountError, type VolumeFolder } from '../../volume-plugin.ts'
import type { CsiObjects } from './csi-objects.ts'
import { type CsiVolume, capabilityOf } from './csi-volume.ts'
import type { CsiDrivers } from './driver/csi-drivers.ts'
import type { Staging } from './stages/staging.ts'
import { secretValues } from './volume-context.ts'
import { type CsiPaths, dataFile, dataOf, readData, saveData, type VolumeData } from './volume-data.ts'

export interface BlockVolumesOptions {
  readonly drivers: CsiDrivers
  readonly csi: CsiObjects
  readonly csiPaths: CsiPaths
  readonly staging: Staging
  readonly mounter: Mounter
  readonly nodeName: string
}

export class BlockVolumes {
  readonly #options: BlockVolumesOptions

  constructor(options: BlockVolumesOptions) {
    this.#options = options
  }

  /** Rejects with a MountError. */
  async setUp(
    pod: Pod,
    volume: CsiVolume,
    publishContext: Readonly<Record<string, string>>,
  ): Promise<{ readonly mounted: DeviceVolume; readonly stagingPath: string }> {
    try {
      return await this.#setUp(pod, volume, publishContext)
    } catch (error) {
      throw new MountError('MapVolume.SetUpDevice failed', (error as Error).message)
    }
  }

  async #setUp(pod: Pod, volume: CsiVolume, publishContext: Readonly<Record<string, string>>) {
    const { drivers, csi, csiPaths, staging, nodeName } = this.#options
    const { name, handle, isReadOnly } = volume
    const { uid = '' } = pod.metadata
    const client = drivers.client(volume.driver)
    const capabilities = await client.capabilities()
    await saveData(csiPaths.deviceData(name), dataOf(volume, nodeName))
    // The pod's folder shows that its device has to be removed.
    const link = csiPaths.podDevice(name, uid)
    await mkdir(dirname(link), { recursive: true, mode: 0o750 })
    const target = csiPaths.devicePublish(name, uid)
    await mkdir(dirname(target), { recursive: true, mode: 0o750 })
    if (!(await lstat(link).catch(undefinedIfMissing))) await symlink(target, link)
    const stagingPath = await staging.stage({ volume, client, capabilities, publishContext })
    await client.publish({
      volumeId: handle,
      publishContext: { ...publishContext },
      stagingTargetPath: stagingPath,
      targetPath: target,
      volumeCapability: capabilityOf(volume, capabilities),
      readonly: isReadOnly,
      secrets: { ...(await secretValues(csi, volume.publishSecret)) },
      volumeContext: { ...volume.attributes },
    })
    await this.#map(target, csiPaths.deviceMap(name, uid))
    return { mounted: { device: link, isReadOnly }, stagingPath }
  }

  /** Binds the device, so that it stays what it is while the pod uses it. */
  async #map(device: string, target: string): Promise<void> {
    const { mounter } = this.#options
    await mkdir(dirname(target), { recursive: true, mode: 0o750 })
    if (mountAt(await mounter.list(), target)) return
    await writeFile(target, '', { mode: 0o640 })
    await mounter.mount({ source: device, target, options: ['bind'] })
  }

  /** Resolves with the data of the volume, which may have to be unstaged. */
  async tearDown({ uid, name, path }: VolumeFolder): Promise<VolumeData | undefined> {
    const { drivers, csiPaths, mounter } = this.#options
    const data = await readData(csiPaths.deviceData(name))
    if (data) {
      const client = drivers.client(data.driverName)
      const map = csiPaths.deviceMap(name, uid)
      await unmountAll(mounter, map)
      await rm(map, { force: true })
      const target = csiPaths.devicePublish(name, uid)
      if (await lstat(target).catch(undefinedIfMissing)) {
        await client.unpublish(data.volumeHandle, target)
        if (mountAt(await mounter.list(), target)) throw new Error(`${target} is still mounted`)
        await rm(target, { force: true })
      }
      await removeIfEmpty(dirname(target))
    }
    await rm(path, { force: true })
    return data
  }

  /** Unstages a device that no pod uses, and removes its data. */
  async unstage(data: VolumeData): Promise<void> {
    const { drivers, csiPaths, staging } = this.#options
    const { driverName, specVolID: name = '' } = data
    const folder = csiPaths.deviceData(name)
    if (!(await readData(folder))) return
    await staging.unstage(data, drivers.client(driverName), true)
    await removeIfEmpty(csiPaths.deviceMaps(name))
    await rm(dataFile(folder), { force: true })
    await removeIfEmpty(folder)
    await removeIfEmpty(dirname(folder))
  }
}
