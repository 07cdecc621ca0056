/**
 * The files and folders of CSI volumes on the node, as upstream lays them out: drivers and their tools search there. A
 * file `vol_data.json` beside each volume has the facts for its removal, as after a restart of the kubelet.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attachmentName } from '../../../../api/storage/attachment-names.ts'
import { undefinedIfMissing } from '../../files/missing.ts'
import { escapedName, type VolumePaths } from '../../volume-paths.ts'
import type { CsiVolume } from './csi-volume.ts'

export const csiPluginName = 'kubernetes.io/csi'

const fileName = 'vol_data.json'
const devicesFolder = 'volumeDevices'

/** The content of `vol_data.json`. */
export interface VolumeData {
  readonly driverName: string
  readonly volumeHandle: string
  readonly specVolID?: string
  readonly nodeName?: string
  readonly attachmentID?: string
  readonly volumeLifecycleMode?: string
}

/** A volume of a pod, as its data describe it. */
export interface PodVolumeData extends VolumeData {
  readonly uid: string
}

/** A volume that is staged on this node, or was being staged. */
export interface StagedVolume extends VolumeData {
  readonly isBlock: boolean
}

export const dataOf = ({ name, driver, handle, isEphemeral }: CsiVolume, nodeName: string): VolumeData => ({
  attachmentID: attachmentName(handle, driver, nodeName),
  driverName: driver,
  nodeName,
  specVolID: name,
  volumeHandle: handle,
  volumeLifecycleMode: isEphemeral ? 'Ephemeral' : 'Persistent',
})

/** Makes the folder and replaces its data. */
export async function saveData(folder: string, data: VolumeData): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o750 })
  const path = join(folder, fileName)
  await writeFile(`${path}.new`, `${JSON.stringify(data)}\n`, { mode: 0o644 })
  await rename(`${path}.new`, path)
}

/** Undefined if there are none. */
export async function readData(folder: string): Promise<VolumeData | undefined> {
  const text = await readFile(dataFile(folder), 'utf8').catch(undefinedIfMissing)
  return text === undefined ? undefined : (JSON.parse(text) as VolumeData)
}

export const dataFile = (folder: string): string => join(folder, fileName)

export class CsiPaths {
  readonly #paths: VolumePaths

  constructor(paths: VolumePaths) {
    this.#paths = paths
  }

  /** The place where a driver stages a volume for all pods; `vol_data.json` is beside it. */
  stage(driver: string, handle: string): string {
    const hash = createHash('sha256').update(handle).digest('hex')
    return join(this.#root, checkedName(driver), hash, 'globalmount')
  }

  get #root(): string {
    return this.#paths.plugin(csiPluginName)
  }

  get #devices(): string {
    return join(this.#root, devicesFolder)
  }

  deviceStage(name: string): string {
    return join(this.#devices, 'staging', checkedName(name))
  }

  devicePublish(name: string, uid: string): string {
    return join(this.#devices, 'publish', checkedName(name), checkedName(uid))
  }

  /** The folder of a device's data. */
  deviceData(name: string): string {
    return join(this.#devices, checkedName(name), 'data')
  }

  /** Holds a device while a pod uses it. */
  deviceMap(name: string, uid: string): string {
    return join(this.deviceMaps(name), checkedName(uid))
  }

  deviceMaps(name: string): string {
    return join(this.#devices, checkedName(name), 'dev')
  }

  /** The symlink of a pod to its device. */
  podDevice(name: string, uid: string): string {
    return this.#paths.volumeDevice(uid, csiPluginName, name)
  }

  /** All volumes of pods, with and without a file system. */
  async podVolumes(): Promise<readonly PodVolumeData[]> {
    const found: PodVolumeData[] = []
    for (const uid of await namesIn(this.#paths.pods)) {
      const folder = join(this.#paths.volumes(uid), escapedName(csiPluginName))
      for (const name of await namesIn(folder)) {
        const data = await readData(join(folder, name)).catch(() => undefined)
        if (data) found.push({ ...data, uid })
      }
      for (const name of await namesIn(join(this.#paths.volumeDevices(uid), escapedName(csiPluginName)))) {
        const data = await readData(this.deviceData(name)).catch(() => undefined)
        if (data) found.push({ ...data, uid })
      }
    }
    return found
  }

  /** All volumes with data beside their stages. */
  async stagedVolumes(): Promise<readonly StagedVolume[]> {
    const found: StagedVolume[] = []
    const add = async (folder: string, isBlock: boolean): Promise<void> => {
      const data = await readData(folder).catch(() => undefined)
      if (data) found.push({ ...data, isBlock })
    }
    for (const driver of await namesIn(this.#root))
      if (driver !== devicesFolder)
        for (const hash of await namesIn(join(this.#root, driver))) await add(join(this.#root, driver, hash), false)
    for (const name of await namesIn(this.#devices)) await add(this.deviceData(name), true)
    return found
  }
}

/** Names come from objects and drivers: they must not lead to another folder. */
function checkedName(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0'))
    throw new Error(`${JSON.stringify(name)} is not a name of a file`)
  return name
}

const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(undefinedIfMissing)) ?? []
