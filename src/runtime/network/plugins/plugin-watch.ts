/**
 * Watches the addresses of pods that the plug-in `t8s cni` has connected. The plug-in ends after each call and leaves a
 * record of each pod; a process of the node that goes on running reads them.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../../lib/log/log.ts'
import { messageOf } from '../../../lib/message-of.ts'
import {
  type AttachmentRecord,
  AttachmentRecords,
  recordsDirectory,
  type WatchedInterface,
} from '../../../network/cni/attachment-records.ts'
import type { BridgeWatch, WatchedPod } from '../bridge/bridge-watch.ts'
import type { PodIdentity } from '../pod-connector.ts'

type Watch = Pick<BridgeWatch, 'add' | 'remove' | 'close'>

export interface PluginWatchOptions {
  /** The folder of records, with one of each network. Default: that of the plug-in. */
  readonly folder?: string
  /** Gets the reason why a pod shares an address with another host. */
  readonly onConflict: (pod: PodIdentity, message: string) => void
  /** Returns a watch of a bridge. Default: of this machine. */
  readonly watch?: (bridge: string) => Watch
  readonly log: Log
}

/** Interval of reading the names of records, in ms: a new pod is watched after this time at the latest. */
const intervalMs = 5000

export class PluginWatch {
  readonly #options: PluginWatchOptions
  readonly #bridges = new Map<string, Watch>()
  /** The bridge of each record that is watched. */
  readonly #watched = new Map<string, string>()
  #names = ''
  #problem: string | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: PluginWatchOptions) {
    this.#options = options
  }

  /** Reads the records now and every five seconds. */
  start(): void {
    void this.update().then(() => {
      if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), intervalMs).unref()
    })
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const watch of this.#bridges.values()) watch.close()
  }

  /** Watches the pods that were connected since the last call, and no longer those that were disconnected. */
  async update(): Promise<void> {
    try {
      const folder = this.#options.folder ?? recordsDirectory
      const networks = (await namesIn(folder)).map((name) => join(folder, name))
      // A record never changes, and no two pods have the same name of it.
      const names = (await Promise.all(networks.map(namesIn))).flat().join('\n')
      if (names === this.#names) return
      const records = await Promise.all(networks.map((network) => new AttachmentRecords(network).list()))
      this.#names = names
      await this.#compare(records.flat())
      this.#problem = undefined
    } catch (error) {
      const problem = messageOf(error)
      if (problem !== this.#problem) this.#options.log(`pods of t8s cni are not watched: ${problem}`, 'warning')
      this.#problem = problem
    }
  }

  async #compare(records: readonly AttachmentRecord[]): Promise<void> {
    const present = new Set(records.map(keyOf))
    for (const [key, bridge] of this.#watched) {
      if (present.has(key)) continue
      this.#bridges.get(bridge)?.remove(key)
      this.#watched.delete(key)
    }
    for (const record of records) {
      const { watched } = record
      const key = keyOf(record)
      if (!watched || this.#watched.has(key)) continue
      const watch = this.#bridges.get(watched.bridge) ?? (await this.#open(watched.bridge))
      if (this.#isClosed) return
      this.#bridges.set(watched.bridge, watch)
      this.#watched.set(key, watched.bridge)
      watch.add(podOf(record, watched))
    }
  }

  /** Most nodes have no records, and need none of this code. */
  async #open(bridge: string): Promise<Watch> {
    const { onConflict, log, watch } = this.#options
    if (watch) return watch(bridge)
    const { watchBridge } = await import('../bridge/watch-bridge.ts')
    return watchBridge({ bridge, onConflict, log })
  }
}

const keyOf = ({ id, interfaceName }: AttachmentRecord): string => `${id}:${interfaceName}`

function podOf(record: AttachmentRecord, { pod, hardware, namespace }: WatchedInterface): WatchedPod {
  const { addresses, interfaceName } = record
  return { ...pod, id: keyOf(record), addresses, hardware, namespaceFile: namespace, interfaceName }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}
