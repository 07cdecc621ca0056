/**
 * Stages persistent volumes: once on this node for all pods, before they are published to each (`NodeStageVolume`), and
 * unstages them after the last one. Drivers without that step need none.
 */
import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { removeIfEmpty } from '../../../mounts/clear-folder.ts'
import { mountAt } from '../../../mounts/mount-table.ts'
import type { Mounter } from '../../../mounts/mounter.ts'
import type { CsiObjects } from '../csi-objects.ts'
import { type CsiVolume, capabilityOf } from '../csi-volume.ts'
import { Capability, type CsiDriverClient } from '../driver/csi-driver-client.ts'
import { secretValues } from '../volume-context.ts'
import { type CsiPaths, dataFile, readData, saveData, type VolumeData } from '../volume-data.ts'

export interface StagingOptions {
  readonly csiPaths: CsiPaths
  readonly mounter: Mounter
  readonly csi: Pick<CsiObjects, 'secret'>
}

export interface StageParameters {
  readonly volume: CsiVolume
  readonly client: CsiDriverClient
  readonly capabilities: ReadonlySet<Capability>
  readonly publishContext: Readonly<Record<string, string>>
  readonly group?: number
}

/** A stage that failed with one of these may still be in progress. */
const unfinished: ReadonlySet<unknown> = new Set([
  'DeadlineExceeded',
  'Canceled',
  'Unavailable',
  'ResourceExhausted',
  'Aborted',
])

/** True if the driver has certainly not set up what was requested. */
export const isFinal = (error: unknown): boolean => !unfinished.has((error as { code?: unknown }).code)

export class Staging {
  readonly #options: StagingOptions
  /** The stages that were completed by this process. */
  readonly #staged = new Set<string>()

  constructor(options: StagingOptions) {
    this.#options = options
  }

  /** Resolves with the path of the stage, which is '' for drivers without stages. Rejects with a GrpcError. */
  async stage(parameters: StageParameters): Promise<string> {
    const { volume, client, capabilities, publishContext, group } = parameters
    const { driver, handle, name } = volume
    const { csiPaths, csi } = this.#options
    const path = volume.isBlock ? csiPaths.deviceStage(name) : csiPaths.stage(driver, handle)
    if (!volume.isBlock) await saveData(dirname(path), { driverName: driver, volumeHandle: handle })
    if (!capabilities.has(Capability.STAGE_UNSTAGE_VOLUME)) return ''
    if (this.#staged.has(path)) return path
    await mkdir(path, { recursive: true, mode: 0o750 })
    try {
      await client.stage({
        volumeId: handle,
        publishContext: { ...publishContext },
        stagingTargetPath: path,
        volumeCapability: capabilityOf(volume, capabilities, group),
        secrets: { ...(await secretValues(csi, volume.stageSecret)) },
        volumeContext: { ...volume.attributes },
      })
    } catch (error) {
      if (isFinal(error)) await this.#remove(path, !volume.isBlock)
      throw error
    }
    this.#staged.add(path)
    return path
  }

  /** Does nothing for a volume that is not staged. Rejects with a GrpcError, or if it is still mounted. */
  async unstage(
    { driverName, volumeHandle, specVolID = '' }: VolumeData,
    client: CsiDriverClient,
    isBlock: boolean,
  ): Promise<void> {
    const { csiPaths } = this.#options
    const path = isBlock ? csiPaths.deviceStage(specVolID) : csiPaths.stage(driverName, volumeHandle)
    this.#staged.delete(path)
    if (!isBlock && !(await readData(dirname(path)))) return
    const capabilities = await client.capabilities()
    if (capabilities.has(Capability.STAGE_UNSTAGE_VOLUME)) await client.unstage(volumeHandle, path)
    await this.#remove(path, !isBlock)
  }

  async #remove(path: string, hasData: boolean): Promise<void> {
    if (mountAt(await this.#options.mounter.list(), path)) throw new Error(`${path} is still mounted`)
    await removeIfEmpty(path)
    if (!hasData) return
    await rm(dataFile(dirname(path)), { force: true })
    await removeIfEmpty(dirname(path))
  }
}
