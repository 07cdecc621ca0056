/** Connects pods by plug-ins or by the bridge of our own, and disconnects each by the one that connected it. */
import { existsSync } from 'node:fs'
import { isInUserNamespace } from '../../lib/linux/user-namespace.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import { socketFolder } from '../../lib/rootless/socket-folder.ts'
import { PodPorts } from '../rootless/ports/pod-ports.ts'
import { BridgeConnector } from './bridge/bridge-connector.ts'
import { NetworkThread } from './bridge/network-thread.ts'
import type { ConnectorName, NetworkMode } from './network-mode.ts'
import { addressesOf, type NetworkResult } from './network-result.ts'
import { CniPlugins } from './plugins/cni-plugins.ts'
import type { ConnectedPod, PodConnector, PodIdentity } from './pod-connector.ts'

export interface PodConnectionsOptions {
  /** Default: `auto`. */
  readonly mode?: NetworkMode | undefined
  /** The folder of configurations of plug-ins. */
  readonly configFolder: string
  /** The folders of plug-ins. */
  readonly pluginFolders: readonly string[]
  /** The name of the bridge. Default: `t8s0`. */
  readonly bridge?: string | undefined
  /** Ranges of the addresses of pods on the bridge. Default: those that the kubelet sends. */
  readonly podCidr?: string | undefined
  /** Destinations that see the addresses of pods on the bridge: the ranges of other nodes. Default: none. */
  readonly notMasqueraded?: readonly string[] | undefined
  /** The file of flannel for which pods on the bridge wait, and whose MTU they get. Default: none. */
  readonly subnetFile?: string | undefined
  /** Resolves when a connected pod may send and receive packets: network policies hold. Default: immediately. */
  readonly admit?: ((pod: AdmittedPod) => Promise<void>) | undefined
  /** Gets the reason why a pod has another address than it should, or shares one with another host; the log has it. */
  readonly onConflict?: ((pod: PodIdentity, message: string) => void) | undefined
}

/** A pod with its addresses. */
export interface AdmittedPod extends PodIdentity {
  readonly addresses: readonly string[]
}

/** A pod that an earlier runtime has connected, with the result. */
export interface EarlierPod {
  readonly pod: ConnectedPod
  readonly result: NetworkResult | undefined
}

interface Folders {
  readonly root: string
  readonly state: string
  readonly log: Log
}

export class PodConnections {
  readonly #mode: NetworkMode
  readonly #thread = new NetworkThread()
  readonly #plugins: CniPlugins
  readonly #bridge: BridgeConnector
  /** The ports of the machine; undefined if this process has the machine's network. */
  readonly #ports: PodPorts | undefined
  readonly #admit: PodConnectionsOptions['admit']
  readonly #log: Log

  constructor(
    {
      mode = 'auto',
      configFolder,
      pluginFolders,
      bridge = 't8s0',
      podCidr,
      notMasqueraded,
      subnetFile,
      admit,
      onConflict,
    }: PodConnectionsOptions,
    { root, state, log }: Folders,
  ) {
    this.#mode = mode
    this.#plugins = new CniPlugins({ configFolder, pluginFolders })
    this.#bridge = new BridgeConnector({
      thread: this.#thread,
      bridge,
      podCidr,
      notMasqueraded,
      subnetFile,
      root,
      state,
      onConflict: (pod, message) => onConflict?.(pod, message),
      log,
    })
    const folder = socketFolder()
    this.#ports = folder === undefined ? undefined : new PodPorts(folder)
    this.#admit = admit
    this.#log = log
  }

  /** The connector of the next pod. */
  get connector(): ConnectorName {
    if (this.#mode !== 'auto') return this.#mode
    // Plug-ins of the machine are configured for its root.
    return this.#plugins.isConfigured && !isInUserNamespace() ? 'cni' : 'builtin'
  }

  /** The reason why pods cannot be connected; undefined if they can. */
  get problem(): string | undefined {
    return this.#named(this.connector).problem
  }

  /** Sets the ranges of the node. Plug-ins have their own. */
  setRanges(podCidr: string): void {
    this.#bridge.setRanges(podCidr)
  }

  /** Connects a pod. Rejects, with everything undone, if that fails. */
  async connect(connector: ConnectorName, pod: ConnectedPod): Promise<NetworkResult> {
    if (connector === 'cni') await this.#thread.run({ kind: 'loopback', namespaceFile: pod.namespaceFile })
    const result = await this.#named(connector).connect(pod)
    try {
      const { namespace, name, uid } = pod
      await this.#admit?.({ namespace, name, uid, addresses: addressesOf(result) })
      await this.#ports?.open(pod.id, addressesOf(result)[0] ?? '', pod.portMappings)
      return result
    } catch (error) {
      await this.disconnect(connector, pod, result)
      throw error
    }
  }

  /** Disconnects a pod. Does nothing for one that is not connected. */
  disconnect(connector: ConnectorName, pod: ConnectedPod, result: NetworkResult | undefined): Promise<void> {
    this.#ports?.close(pod.id)
    return this.#named(connector).disconnect(pod, result)
  }

  /** Watches the pods on the bridge of an earlier runtime, and removes what it has left of others. */
  async retainOnBridge(connected: readonly EarlierPod[]): Promise<void> {
    if (!existsSync(this.#bridge.folder)) return
    try {
      await this.#bridge.retain(connected.map(({ pod }) => pod.id))
      for (const { pod, result } of connected) if (result) this.#bridge.watch(pod, result)
    } catch (error) {
      this.#log(`cannot disconnect pods of an earlier run: ${messageOf(error)}`, 'error')
    }
  }

  /** Ends after the changes that run. */
  close(): Promise<void> {
    this.#bridge.close()
    return this.#thread.close()
  }

  #named(connector: ConnectorName): PodConnector {
    return connector === 'cni' ? this.#plugins : this.#bridge
  }
}
