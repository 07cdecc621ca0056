/** CSI on this node: drivers that register themselves, and the plug-in for their volumes. */
import { join } from 'node:path'
import type { RestClient } from '../../../../client/rest/rest-client.ts'
import type { PodEvent } from '../../../../node/pods/pod-types.ts'
import type { Pod } from '../../../pod-types.ts'
import type { Mounter } from '../../mounts/mounter.ts'
import type { TokenCache } from '../../tokens/token-cache.ts'
import { VolumePaths } from '../../volume-paths.ts'
import type { VolumePlugin } from '../../volume-plugin.ts'
import { csiObjects } from './csi-objects.ts'
import { CsiPlugin } from './csi-plugin.ts'
import { CsiDrivers } from './driver/csi-drivers.ts'
import { NodeDrivers } from './registration/node-drivers.ts'
import { type PluginHandler, PluginWatcher } from './registration/plugin-watcher.ts'
import { VolumeAttachments, VolumesInUse } from './volume-attachments.ts'
import { CsiPaths } from './volume-data.ts'
import { CsiVolumeStats } from './volume-stats.ts'

export interface CsiNodeOptions {
  readonly client: Pick<RestClient, 'find' | 'get' | 'create' | 'update' | 'patch'>
  readonly nodeName: string
  /** The kubelet's folder. */
  readonly root: string
  readonly schedule: (callback: () => void, ms: number) => () => void
  readonly now: () => number
  readonly log: (line: string) => void
}

export interface CsiPluginParts {
  readonly mounter: Mounter
  readonly tokens: Pick<TokenCache, 'issued'>
  record(pod: Pod, event: PodEvent): void
}

const retryMs = 1_000
/** The time that pods wait for the registration of drivers, in ms. */
const registrationMs = 2_000

export class CsiNode {
  /** For the node's `status.volumesInUse`. */
  readonly inUse = new VolumesInUse()
  readonly stats: CsiVolumeStats
  readonly #options: CsiNodeOptions
  readonly #drivers = new CsiDrivers()
  readonly #nodeDrivers: NodeDrivers
  readonly #watcher: PluginWatcher
  #plugin: CsiPlugin | undefined
  #problem: string | undefined = 'CSINode is not yet initialized'
  #cancel = (): void => {}
  #isStopped = false

  constructor(options: CsiNodeOptions) {
    this.#options = options
    this.stats = new CsiVolumeStats(this.#drivers, options.log, options.now)
    this.#nodeDrivers = new NodeDrivers(options.client, options.nodeName)
    const folder = join(options.root, 'plugins_registry')
    this.#watcher = new PluginWatcher({ ...options, folder, handlers: { CSIPlugin: this.#handler } })
  }

  /** The reason why the node is not ready. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Makes the CSINode of a node that exists, and registers drivers. Retries later if it fails. */
  async start(): Promise<void> {
    try {
      await this.#nodeDrivers.initialize()
    } catch (error) {
      this.#problem = `Failed to initialize CSINode: ${(error as Error).message}`
      this.#options.log(`cannot write the CSINode of this node: ${(error as Error).message}`)
      if (!this.#isStopped) this.#cancel = this.#options.schedule(() => void this.start(), retryMs)
      return
    }
    this.#problem = undefined
    // A driver that does not answer must not delay the pods that do not use it.
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#options.schedule(resolve, registrationMs)
    await Promise.race([this.#watcher.start(), promise])
    cancel()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    this.#plugin?.stop()
    await this.#watcher.stop()
    this.#drivers.close()
  }

  /** The plug-in for volumes. Resolves when those from before a restart are known. */
  async plugin(parts: CsiPluginParts): Promise<VolumePlugin> {
    const { client, nodeName, root, log, schedule } = this.#options
    const csi = csiObjects(client, nodeName)
    const csiPaths = new CsiPaths(new VolumePaths(root))
    const attachments = new VolumeAttachments(csi, nodeName, this.inUse)
    attachments.restore([...(await csiPaths.podVolumes()), ...(await csiPaths.stagedVolumes())])
    this.#plugin = new CsiPlugin({
      ...parts,
      drivers: this.#drivers,
      csi,
      csiPaths,
      attachments,
      stats: this.stats,
      nodeName,
      schedule,
      log,
    })
    await this.#plugin.start()
    return this.#plugin
  }

  get #handler(): PluginHandler {
    return {
      register: async (name, endpoint, versions) => {
        const driver = this.#drivers.add(name, endpoint, versions)
        try {
          const { nodeId, maxVolumesPerNode, accessibleTopology } = await driver.info()
          const topology = accessibleTopology?.segments ?? {}
          await this.#nodeDrivers.add({ name, nodeId, maxVolumes: maxVolumesPerNode, topology })
        } catch (error) {
          this.#drivers.remove(name)
          throw error
        }
      },
      unregister: async (name) => {
        this.#drivers.remove(name)
        await this.#nodeDrivers.remove(name)
      },
    }
  }
}
