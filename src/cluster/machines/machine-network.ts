/** The network of the machines of a cluster: a bridge, by which they reach each other, the cluster and the internet. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { interfaceName, type NetworkSettings } from '../../runtime/network/bridge/network-tasks.ts'
import { NetworkThread } from '../../runtime/network/bridge/network-thread.ts'
import type { MachinesPlan } from './plan-machines.ts'

export class MachineNetwork {
  readonly #thread = new NetworkThread()
  readonly #settings: NetworkSettings

  /** `podRanges` are those of all pods, which the machines route. */
  constructor(
    { bridge, lans, folder }: Pick<MachinesPlan, 'bridge' | 'lans' | 'folder'>,
    podRanges: readonly string[],
  ) {
    this.#settings = {
      bridge,
      ranges: lans,
      formerRanges: [],
      notMasqueraded: podRanges,
      folder: join(folder, 'network'),
    }
  }

  /** Connects the network namespace of a process. */
  async connect(id: string, pid: number, requestedAddresses: readonly string[]): Promise<void> {
    const attachment = { id, namespace: `/proc/${pid}/ns/net`, interfaceName, requestedAddresses }
    await this.#thread.run({ kind: 'connect', settings: this.#settings, attachment })
  }

  /** Removes all connections, the bridge and its rules, also those that an earlier process has left. */
  async clear(): Promise<void> {
    await this.#thread.run({ kind: 'retain', settings: this.#settings, ids: [] })
    rmSync(this.#settings.folder, { recursive: true, force: true })
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
