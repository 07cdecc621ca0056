/** Connects pods by a bridge of our own, without plug-ins: `src/network` on a thread of the runtime. */
import { join } from 'node:path'
import { findRulesProgram } from '../../../network/cni/host-ports/find-rules-program.ts'
import type { NetworkResult } from '../network-result.ts'
import type { ConnectedPod, PodConnector } from '../pod-connector.ts'
import { interfaceName, type NetworkSettings } from './network-tasks.ts'
import type { NetworkThread } from './network-thread.ts'
import { NodeRanges, nodeRangesFile, parseRanges } from './node-ranges.ts'

export interface BridgeConnectorOptions {
  readonly thread: NetworkThread
  /** The name of the bridge. */
  readonly bridge: string
  /** The ranges of pods. Default: those that the kubelet sends. */
  readonly podCidr?: string | undefined
  /** The folder of the node's ranges, which survives a reboot. */
  readonly root: string
  /** The folder of addresses and records, which a reboot removes. */
  readonly state: string
}

export class BridgeConnector implements PodConnector {
  readonly #options: BridgeConnectorOptions
  readonly #ranges: NodeRanges
  readonly #hasFixedRanges: boolean

  /** @throws for `podCidr` that is not valid. */
  constructor(options: BridgeConnectorOptions) {
    this.#options = options
    this.#ranges = new NodeRanges(nodeRangesFile(options.root))
    this.#hasFixedRanges = options.podCidr !== undefined
    if (options.podCidr !== undefined) this.#ranges.set(parseRanges(options.podCidr))
  }

  get problem(): string | undefined {
    if (this.#ranges.current.length === 0)
      return (
        'the node has no range of pod addresses yet: give it one with --pod-cidr, ' +
        'or let the cluster give one to each node with --allocate-node-cidrs and --cluster-cidr'
      )
    return findRulesProgram().problem
  }

  /**
   * Sets the ranges of the node, as the kubelet sends them. `--pod-cidr` has precedence.
   * @throws for a text without ranges.
   */
  setRanges(podCidr: string): void {
    if (!this.#hasFixedRanges) this.#ranges.set(parseRanges(podCidr))
  }

  async connect({ id, namespaceFile, portMappings }: ConnectedPod): Promise<NetworkResult> {
    const { problem } = this
    if (problem) throw new Error(problem)
    const hostPorts = portMappings.map(({ hostIP, ...port }) => ({ ...port, ...(hostIP && { hostIP }) }))
    const attachment = { id, namespace: namespaceFile, interfaceName, hostPorts }
    const { result } = await this.#options.thread.run({ kind: 'connect', settings: this.#settings, attachment })
    return { cniVersion: '1.0.0', ...result }
  }

  async disconnect({ id }: Pick<ConnectedPod, 'id'>): Promise<void> {
    const { isUnused } = await this.#options.thread.run({ kind: 'disconnect', settings: this.#settings, id })
    if (isUnused) this.#ranges.forgetFormer()
  }

  /** Disconnects the pods that are not in the list: an earlier runtime or the machine has ended before it could. */
  async retain(ids: readonly string[]): Promise<void> {
    const { isUnused } = await this.#options.thread.run({ kind: 'retain', settings: this.#settings, ids })
    if (isUnused) this.#ranges.forgetFormer()
  }

  /** The folder of addresses and records; it exists if a pod was ever connected since the last reboot. */
  get folder(): string {
    return join(this.#options.state, 'network')
  }

  get #settings(): NetworkSettings {
    const { bridge } = this.#options
    const { current, former } = this.#ranges
    return { bridge, ranges: current, formerRanges: former, folder: this.folder }
  }
}
