/** Connects pods by a bridge of our own, without plug-ins: `src/network` on a thread of the runtime. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../../lib/log/log.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { type AddressConflict, conflictsText } from '../../../network/arp/check/address-check.ts'
import { findRulesProgram } from '../../../network/cni/host-ports/find-rules-program.ts'
import { readSubnetFile } from '../../../network/flannel/subnet-file/subnet-file.ts'
import { addressesOf, type NetworkResult } from '../network-result.ts'
import type { ConnectedPod, PodConnector, PodIdentity } from '../pod-connector.ts'
import type { BridgeWatch } from './bridge-watch.ts'
import { interfaceName, type NetworkSettings } from './network-tasks.ts'
import type { NetworkThread } from './network-thread.ts'
import { NodeRanges, nodeRangesFile, parseRanges } from './node-ranges.ts'
import { watchBridge } from './watch-bridge.ts'

export interface BridgeConnectorOptions {
  readonly thread: NetworkThread
  /** The name of the bridge. */
  readonly bridge: string
  /** The ranges of pods. Default: those that the kubelet sends. */
  readonly podCidr?: string | undefined
  /** Destinations that see the addresses of pods. Default: none. */
  readonly notMasqueraded?: readonly string[] | undefined
  /** The file of flannel (`subnet.env`): pods wait for it, and get its MTU. Default: none, so they do not wait. */
  readonly subnetFile?: string | undefined
  /** The folder of the node's ranges, which survives a reboot. */
  readonly root: string
  /** The folder of addresses and records, which a reboot removes. */
  readonly state: string
  /** Gets the reason why a pod has another address than it should, or shares one with another host. */
  readonly onConflict: (pod: PodIdentity, message: string) => void
  readonly log: Log
}

/** Until flannel has written the subnet of a node that has ranges, and between two checks, in ms. */
const [subnetMs, subnetPollMs] = [10_000, 20]

export class BridgeConnector implements PodConnector {
  readonly #options: BridgeConnectorOptions
  readonly #ranges: NodeRanges
  readonly #hasFixedRanges: boolean
  readonly #watch: BridgeWatch
  /** The time, in ms, when the node got its ranges in this process. */
  #rangesSetAt = Infinity
  /** The reason why the last addresses were not probed, which is logged once. */
  #logged: string | undefined

  /** @throws for `podCidr` that is not valid. */
  constructor(options: BridgeConnectorOptions) {
    this.#options = options
    this.#ranges = new NodeRanges(nodeRangesFile(options.root))
    const { bridge, onConflict, log } = options
    this.#watch = watchBridge({ bridge, onConflict, log })
    this.#hasFixedRanges = options.podCidr !== undefined
    if (options.podCidr !== undefined) this.#ranges.set(parseRanges(options.podCidr))
  }

  get problem(): string | undefined {
    if (this.#ranges.current.length === 0)
      return (
        'the node has no range of pod addresses yet: give it one with --pod-cidr, ' +
        'or let the cluster give one to each node with --allocate-node-cidrs and --cluster-cidr'
      )
    const isLate = performance.now() > this.#rangesSetAt + subnetMs
    return (isLate ? this.#subnet.problem : undefined) ?? findRulesProgram().problem
  }

  /**
   * Sets the ranges of the node, as the kubelet sends them. `--pod-cidr` has precedence.
   * @throws for a text without ranges.
   */
  setRanges(podCidr: string): void {
    if (!this.#hasFixedRanges) this.#ranges.set(parseRanges(podCidr))
    this.#rangesSetAt = Math.min(this.#rangesSetAt, performance.now())
  }

  async connect(pod: ConnectedPod): Promise<NetworkResult> {
    await this.#subnetWritten()
    const problem = this.problem ?? this.#subnet.problem
    const { id, namespaceFile, portMappings } = pod
    if (problem) throw new Error(problem)
    const hostPorts = portMappings.map(({ hostIP, ...port }) => ({ ...port, ...(hostIP && { hostIP }) }))
    const attachment = { id, namespace: namespaceFile, interfaceName, hostPorts }
    const task = { kind: 'connect', settings: this.#settings, attachment } as const
    const { result = {}, conflicts = [], problem: unprobed } = await this.#options.thread.run(task)
    if (unprobed !== undefined && unprobed !== this.#logged) this.#options.log(unprobed, 'warning')
    this.#logged = unprobed
    if (conflicts.length > 0) this.#reportConflicts(pod, this.#conflictText(conflicts, result))
    this.watch(pod, result)
    return { cniVersion: '1.0.0', ...result }
  }

  /** Watches the addresses of a pod that is connected. */
  watch({ id, name, namespace, uid, namespaceFile }: ConnectedPod, result: NetworkResult): void {
    const hardware = podHardware(result)
    if (hardware === undefined) return
    const addresses = addressesOf(result)
    this.#watch.add({ id, name, namespace, uid, namespaceFile, interfaceName, addresses, hardware })
  }

  /** Ends the watch of addresses. */
  close(): void {
    this.#watch.close()
  }

  async disconnect({ id }: Pick<ConnectedPod, 'id'>): Promise<void> {
    this.#watch.remove(id)
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

  /** Waits for flannel, which starts when the node has its ranges. */
  async #subnetWritten(): Promise<void> {
    const end = performance.now() + subnetMs
    while (this.#subnet.problem !== undefined && performance.now() < end) await delay(subnetPollMs)
  }

  /** The MTU that flannel wrote, or the reason why pods have to wait. */
  get #subnet(): { readonly mtu?: number; readonly problem?: string } {
    const { subnetFile } = this.#options
    if (subnetFile === undefined) return {}
    try {
      const file = readSubnetFile(subnetFile)
      return file ? { mtu: file.mtu } : { problem: `flannel has not written ${subnetFile} yet: its log says why` }
    } catch (error) {
      return { problem: messageOf(error) }
    }
  }

  #reportConflicts(pod: PodIdentity, message: string): void {
    this.#options.log(`pod ${pod.namespace}/${pod.name}: ${message}`, 'warning')
    this.#options.onConflict(pod, message)
  }

  #conflictText(conflicts: readonly AddressConflict[], result: NetworkResult): string {
    return (
      `Other hosts on ${this.#options.bridge} have addresses of the node's range: ${conflictsText(conflicts)}. ` +
      `The pod (${podHardware(result)}) got ${addressesOf(result).join(', ')} instead. ` +
      'Remove those hosts from the network, or give the node a range that no other network uses.'
    )
  }

  get #settings(): NetworkSettings {
    const { bridge, notMasqueraded = [] } = this.#options
    const { current, former } = this.#ranges
    const { mtu } = this.#subnet
    return { bridge, ranges: current, formerRanges: former, mtu, notMasqueraded, folder: this.folder }
  }
}

/** The hardware address of the pod's end. */
const podHardware = ({ interfaces = [] }: NetworkResult): string | undefined =>
  interfaces.find(({ sandbox }) => sandbox !== undefined)?.mac
