/**
 * CSI volumes: drivers of this node mount them. A persistent volume is attached, staged once for the node, and
 * published to each pod; an inline one is only published. Paths, values and messages are upstream's.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KeyedQueue } from '../../../../lib/flow/keyed-queue.ts'
import type { PodEvent } from '../../../../node/pods/pod-types.ts'
import { type Pod, specOf } from '../../../pod-types.ts'
import { fsGroupOf } from '../../content/file-owner.ts'
import { applyGroup } from '../../files/group-ownership.ts'
import { removeIfEmpty, unmountAll } from '../../mounts/clear-folder.ts'
import { mountAt } from '../../mounts/mount-table.ts'
import type { Mounter } from '../../mounts/mounter.ts'
import type { TokenCache } from '../../tokens/token-cache.ts'
import {
  MountError,
  type MountedVolume,
  type MountStep,
  PendingError,
  type SetUpRequest,
  type VolumeFolder,
  type VolumePlugin,
  type VolumeSpec,
} from '../../volume-plugin.ts'
import { BlockVolumes } from './block-volumes.ts'
import type { CsiObjects } from './csi-objects.ts'
import { type CsiVolume, capabilityOf, csiVolumeOf } from './csi-volume.ts'
import { Capability, type CsiDriverClient } from './driver/csi-driver-client.ts'
import type { CsiDrivers } from './driver/csi-drivers.ts'
import { checkLifecycle, setsGroup } from './driver-rules.ts'
import { isFinal, Staging } from './stages/staging.ts'
import { Unstaging, volumeKey } from './stages/unstaging.ts'
import type { VolumeAttachments } from './volume-attachments.ts'
import { podAttributes, secretValues, tokenAttributes } from './volume-context.ts'
import {
  type CsiPaths,
  csiPluginName,
  dataFile,
  dataOf,
  readData,
  type StagedVolume,
  saveData,
  type VolumeData,
} from './volume-data.ts'
import { VolumeExpansion } from './volume-expansion.ts'
import type { CsiVolumeStats } from './volume-stats.ts'

export interface CsiPluginOptions {
  readonly drivers: CsiDrivers
  readonly csi: CsiObjects
  readonly csiPaths: CsiPaths
  readonly attachments: VolumeAttachments
  readonly stats: CsiVolumeStats
  readonly nodeName: string
  readonly mounter: Mounter
  readonly tokens: Pick<TokenCache, 'issued'>
  readonly schedule: (callback: () => void, ms: number) => () => void
  record(pod: Pod, event: PodEvent): void
  readonly log: (line: string) => void
}

/** A volume that a driver has published. */
interface Published {
  readonly mounted: MountedVolume
  readonly stagingPath: string
}

/** The arguments of a publication. */
interface Publication {
  readonly pod: Pod
  readonly volume: CsiVolume
  readonly client: CsiDriverClient
  readonly capabilities: ReadonlySet<Capability>
  readonly publishContext: Readonly<Record<string, string>>
  readonly stagingPath: string
  readonly target: string
}

export class CsiPlugin implements VolumePlugin {
  readonly name = csiPluginName
  /** For drivers with `requiresRepublish`, and for volumes that have grown. */
  readonly isRefreshed = true
  readonly hasMountOptions = true
  readonly #options: CsiPluginOptions
  readonly #staging: Staging
  readonly #blocks: BlockVolumes
  readonly #expansion: VolumeExpansion
  readonly #unstaging: Unstaging
  /** By UID and name; from this process only: drivers publish again after a restart, which changes nothing. */
  readonly #published = new Map<string, Published>()
  /** The operations of each volume: pods share its stage. */
  readonly #operations = new KeyedQueue()

  constructor(options: CsiPluginOptions) {
    this.#options = options
    this.#staging = new Staging(options)
    this.#blocks = new BlockVolumes({ ...options, staging: this.#staging })
    this.#expansion = new VolumeExpansion(options)
    const unstage = (volume: StagedVolume): Promise<void> => this.#unstage(volume)
    this.#unstaging = new Unstaging({ ...options, operations: this.#operations, unstage })
  }

  /** Unstages volumes whose pods ended before a restart of the kubelet. */
  async start(): Promise<void> {
    for (const volume of await this.#options.csiPaths.stagedVolumes()) this.#unstaging.begin(volume)
  }

  /** Stops retries. */
  stop(): void {
    this.#unstaging.stop()
  }

  supports({ volume, persistentVolume }: VolumeSpec): boolean {
    return (volume?.csi ?? persistentVolume?.spec?.csi) !== undefined
  }

  setUp(request: SetUpRequest): Promise<MountedVolume> {
    const volume = csiVolumeOf(request.pod, request.spec)
    if (!volume) throw new MountError('MountVolume.NewMounter initialization failed', 'volume source not found')
    return this.#operations.run(volumeKey(volume.driver, volume.handle), () => this.#setUp(request, volume))
  }

  async tearDown(folder: VolumeFolder): Promise<void> {
    const data = await readData(folder.path)
    // A volume without data was never published.
    if (!data) return this.#clear(folder.path)
    this.#options.stats.remove(folder.uid, folder.name)
    await this.#operations.run(volumeKey(data.driverName, data.volumeHandle), () => this.#tearDown(folder, data))
    this.#published.delete(keyOf(folder.uid, folder.name))
    if (data.volumeLifecycleMode !== 'Ephemeral') this.#unstaging.begin({ ...data, isBlock: false })
  }

  async tearDownDevice(device: VolumeFolder): Promise<void> {
    const data = await this.#blocks.tearDown(device)
    this.#published.delete(keyOf(device.uid, device.name))
    if (data) this.#unstaging.begin({ ...data, isBlock: true })
  }

  async #unstage({ isBlock, ...data }: StagedVolume): Promise<void> {
    const { drivers, attachments } = this.#options
    const { driverName, volumeHandle } = data
    if (isBlock) await this.#blocks.unstage(data)
    else await this.#staging.unstage(data, drivers.client(driverName), false)
    attachments.release({ driver: driverName, handle: volumeHandle })
  }

  async #setUp({ pod, spec, folder }: SetUpRequest, volume: CsiVolume): Promise<MountedVolume> {
    const { csi } = this.#options
    const key = keyOf(pod.metadata.uid ?? '', spec.name)
    const known = this.#published.get(key)
    const driver = await csi.driver(volume.driver)
    if (known && !driver?.spec?.requiresRepublish) {
      await this.#expand(pod, volume, known)
      return known.mounted
    }
    checkLifecycle(volume, driver)
    const published = volume.isBlock
      ? await this.#blocks.setUp(pod, volume, await this.#publishContext(volume))
      : await this.#mount(pod, volume, folder, known === undefined)
    this.#published.set(key, published)
    this.#measure(pod, spec, volume, published)
    if (known === undefined) await this.#expand(pod, volume, published)
    return published.mounted
  }

  /** Lets the usage of a file system be measured. */
  #measure(pod: Pod, spec: VolumeSpec, volume: CsiVolume, { mounted, stagingPath }: Published): void {
    if (!('path' in mounted)) return
    const { name: claim, namespace } = volume.persistentVolume?.spec?.claimRef ?? {}
    this.#options.stats.add(pod.metadata.uid ?? '', spec.name, {
      name: spec.podName,
      ...(claim && namespace && { claim: { name: claim, namespace } }),
      driver: volume.driver,
      volumeId: volume.handle,
      path: mounted.path,
      stagingPath,
    })
  }

  async #publishContext(volume: CsiVolume): Promise<Readonly<Record<string, string>>> {
    const step = volume.isBlock ? 'MapVolume.WaitForAttach failed' : 'MountVolume.WaitForAttach failed'
    return named(step, () => this.#options.attachments.publishContext(volume))
  }

  #expand(pod: Pod, volume: CsiVolume, { mounted, stagingPath }: Published): Promise<void> {
    const path = 'path' in mounted ? mounted.path : 'device' in mounted ? mounted.device : ''
    return this.#expansion.expand(pod, volume, path, stagingPath)
  }

  async #mount(pod: Pod, volume: CsiVolume, folder: string, isFirst: boolean): Promise<Published> {
    const { log, nodeName, csi } = this.#options
    const publishContext = await this.#publishContext(volume)
    const client = await named('MountVolume.MountDevice failed', async () => this.#client(volume))
    const capabilities = await client.capabilities()
    const group = fsGroupOf(pod)
    const stagingPath = volume.isEphemeral
      ? ''
      : await named('MountVolume.MountDevice failed', () =>
          this.#staging.stage({ volume, client, capabilities, publishContext, group }),
        )
    await saveData(folder, dataOf(volume, nodeName))
    const target = join(folder, 'mount')
    await this.#publish({ pod, volume, client, capabilities, publishContext, stagingPath, target }, isFirst)
    const isDelegated = capabilities.has(Capability.VOLUME_MOUNT_GROUP)
    if (isFirst && group !== undefined && !isDelegated && setsGroup(volume, await csi.driver(volume.driver))) {
      const changePolicy = specOf(pod).securityContext?.fsGroupChangePolicy
      await applyGroup(target, { group, isReadOnly: false, changePolicy }, log)
    }
    const { isReadOnly } = volume
    return { mounted: { path: target, isReadOnly, isRelabeled: !isReadOnly }, stagingPath }
  }

  /** Throws an Error with upstream's message, which names the step for persistent volumes. */
  #client({ driver, isEphemeral }: CsiVolume): CsiDriverClient {
    try {
      return this.#options.drivers.client(driver)
    } catch (error) {
      const { message } = error as Error
      const text = isEphemeral
        ? `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: ${message}`
        : `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: ${message}`
      if (isEphemeral) throw new MountError('MountVolume.SetUp failed', text)
      throw new Error(text)
    }
  }

  async #publish(publication: Publication, isFirst: boolean): Promise<void> {
    const { pod, volume, client, capabilities, publishContext, stagingPath, target } = publication
    const { csi, tokens } = this.#options
    const driver = await csi.driver(volume.driver)
    const folder = join(target, '..')
    await mkdir(folder, { recursive: true, mode: 0o750 })
    const { namespace = '', name = '' } = volume.publishSecret ?? {}
    const secrets = await secretValues(csi, volume.publishSecret).catch((error: Error) => {
      throw new Error(`fetching NodePublishSecretRef ${namespace}/${name} failed: ${error.message}`)
    })
    const volumeContext = {
      ...volume.attributes,
      ...podAttributes(pod, volume, driver),
      ...(await tokenAttributes(pod, driver, tokens)),
    }
    try {
      await client.publish({
        volumeId: volume.handle,
        publishContext: { ...publishContext },
        stagingTargetPath: stagingPath,
        targetPath: target,
        volumeCapability: capabilityOf(volume, capabilities, fsGroupOf(pod)),
        readonly: volume.isReadOnly,
        secrets: { ...secrets },
        volumeContext,
      })
    } catch (error) {
      if (isFirst && isFinal(error) && !mountAt(await this.#options.mounter.list(), target)) await this.#clear(folder)
      throw error
    }
  }

  async #tearDown({ path }: VolumeFolder, { driverName, volumeHandle }: VolumeData): Promise<void> {
    const { drivers, mounter } = this.#options
    const client = unmounting(() => drivers.client(driverName))
    const target = join(path, 'mount')
    await client.unpublish(volumeHandle, target).catch((error: Error) => {
      throw new Error(`kubernetes.io/csi: Unmounter.TearDownAt failed: ${error.message}`)
    })
    if (mountAt(await mounter.list(), target)) throw new Error(`${target} is still mounted`)
    await removeIfEmpty(target)
    // Last, since the data are needed to repeat a failure.
    await this.#clear(path)
  }

  async #clear(folder: string): Promise<void> {
    await unmountAll(this.#options.mounter, folder)
    await removeIfEmpty(join(folder, 'mount'))
    await rm(dataFile(folder), { force: true })
    await removeIfEmpty(folder)
  }
}

const keyOf = (uid: string, name: string): string => `${uid}/${name}`

/** Names the step of a failure. */
async function named<Result>(step: MountStep, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof MountError || error instanceof PendingError) throw error
    throw new MountError(step, (error as Error).message)
  }
}

function unmounting<Result>(action: () => Result): Result {
  try {
    return action()
  } catch (error) {
    throw new Error(`kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: ${(error as Error).message}`)
  }
}
