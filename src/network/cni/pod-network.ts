/**
 * The network of the pods of a node without CNI plug-ins: a bridge, a pair of interfaces for each pod, addresses from
 * the node's range, masquerade and host ports. What it sets up equals what the plug-ins bridge, host-local and portmap
 * set up; rules are in a table or chains of its own.
 */
import { join } from 'node:path'
import { addressAt } from '../../lib/cidr.ts'
import type { SystemCalls } from '../../lib/linux/system-calls.ts'
import { AddressCheck, type AddressConflict, conflictsText } from '../arp/check/address-check.ts'
import { AddressPool, type GivenAddress } from '../ipam/address-pool.ts'
import { type AddressRange, withPrefix } from '../ipam/address-range.ts'
import { type HostNetwork, withHostNetwork } from '../netlink/host-network.ts'
import type { Link } from '../netlink/links.ts'
import type { Attachment, NetworkResult } from './attachment.ts'
import { type AttachmentRecord, AttachmentRecords } from './attachment-records.ts'
import { allowLoopback, ensureBridge, removeBridge } from './bridge.ts'
import { createRules } from './host-ports/create-rules.ts'
import { type HostPortRules, type PodRulesOptions, takenPort } from './host-ports/host-port-rules.ts'
import { removeConnectionsTo, removeEarlierConnections } from './host-ports/stale-connections.ts'
import {
  announceInterface,
  configureInterface,
  createInterface,
  hostInterfaceName,
  ipOf,
  removeInterface,
} from './pod-interface.ts'

export interface PodNetworkOptions {
  readonly calls: SystemCalls
  /** Name of the network in files and rules: letters, digits, `-`, `_`. */
  readonly name: string
  /** Name of the bridge: `cni0`. */
  readonly bridge: string
  /** In bytes; by default that of the interface of the default route. */
  readonly mtu?: number | undefined
  readonly hairpin: boolean
  /** Gives the host's address to packets that leave the networks of pods. */
  readonly masquerade: boolean
  /** Destinations outside of the ranges which are not masqueraded. */
  readonly notMasqueraded?: readonly string[]
  readonly rangeSets: readonly (readonly AddressRange[])[]
  /** Ranges of pods that were connected before the ranges changed: `10.88.0.0/16`. */
  readonly formerRanges?: readonly string[]
  /** Destinations that pods reach by the gateway. Default: all. */
  readonly routes?: readonly string[]
  /** Directory of the addresses: `/var/lib/cni/networks/NAME`. */
  readonly addressDirectory: string
  /** Directory of records of pods. */
  readonly recordDirectory: string
  /** Gets the reason why a pod's addresses were not probed. */
  readonly onProblem?: ((message: string) => void) | undefined
  /** Gets addresses that another host on the bridge has, and those that the pod got then. */
  readonly onConflict?: ((conflicts: readonly AddressConflict[], addresses: readonly string[]) => void) | undefined
}

interface UniqueConnection {
  readonly result: NetworkResult
  readonly conflicts: readonly AddressConflict[]
}

/** Addresses that are tried for a pod. */
const maxAttempts = 8

type AttachmentKey = Pick<Attachment, 'id' | 'interfaceName'>

const everything = ['0.0.0.0/0', '::/0']

export class PodNetwork {
  readonly #options: PodNetworkOptions
  readonly #pool: AddressPool
  readonly #records: AttachmentRecords
  readonly #check: AddressCheck
  readonly #rulesOptions: PodRulesOptions
  #createdRules: HostPortRules | undefined

  constructor(options: PodNetworkOptions) {
    this.#options = options
    this.#pool = new AddressPool({
      calls: options.calls,
      directory: options.addressDirectory,
      rangeSets: options.rangeSets,
    })
    this.#check = new AddressCheck(options.calls, (message) => options.onProblem?.(message))
    this.#records = new AttachmentRecords(join(options.recordDirectory, options.name))
    const ranges = options.rangeSets.flat().map(({ subnet }) => `${addressAt(subnet, 0)}/${subnet.prefix}`)
    this.#rulesOptions = {
      table: `t8s_pods_${options.name.replace(/[^A-Za-z0-9]/g, '_')}`,
      bridge: options.bridge,
      ranges: [...new Set([...ranges, ...(options.formerRanges ?? [])])],
      notMasqueraded: options.masquerade ? (options.notMasqueraded ?? []) : undefined,
    }
  }

  /**
   * Connects a pod. A failure leaves nothing behind.
   * @throws if its namespace does not exist, no address is free, or a host port is taken.
   * @example await network.add({ id, namespace: '/run/netns/pod', interfaceName: 'eth0' })
   */
  async add(attachment: Attachment): Promise<NetworkResult> {
    const { id, interfaceName, hostPorts = [], requestedAddresses } = attachment
    await this.#checkPorts(attachment)
    const given = await this.#pool.allocate(attachment, requestedAddresses)
    try {
      const { result, conflicts } = await this.#connectUnique(attachment, given)
      const addresses = result.ips.map(({ address }) => ipOf(address))
      const record = { id, interfaceName, hostPorts, addresses, ...this.#watched(attachment, result) }
      await this.#records.write(record)
      await this.#openPorts(record)
      announceInterface(this.#options.calls, attachment)
      if (conflicts.length > 0) this.#options.onConflict?.(conflicts, addresses)
      return result
    } catch (error) {
      await this.remove(attachment)
      throw error
    }
  }

  /** Disconnects a pod. Succeeds for one that is not connected, and after its namespace has ended. */
  async remove(attachment: AttachmentKey): Promise<void> {
    const record = await this.#records.read(attachment)
    if (record && record.hostPorts.length > 0) await this.#closePorts(record)
    withHostNetwork(this.#options.calls, undefined, (host) => removeInterface(host, attachment))
    await this.#pool.release(attachment)
    await this.#records.remove(attachment)
  }

  /** @throws with what is missing of the connection of a pod. */
  async check(attachment: Attachment): Promise<void> {
    const { interfaceName, namespace } = attachment
    const addresses = await this.#pool.addressesOf(attachment)
    if (addresses.length === 0) throw new Error(`no address is reserved for ${attachment.id} ${interfaceName}`)
    withHostNetwork(this.#options.calls, namespace, (pod) => {
      const link = pod.links.find(interfaceName)
      if (!link) throw new Error(`the pod has no interface ${interfaceName}`)
      const present = pod.addresses.list().filter((one) => one.link === link.index)
      for (const address of addresses)
        if (!present.some((one) => ipOf(one.address) === address))
          throw new Error(`the interface ${interfaceName} of the pod has lost the address ${address}`)
    })
  }

  /** Disconnects the pods that are not in the list: those that ended while nothing watched. */
  async removeOthers(valid: readonly AttachmentKey[]): Promise<void> {
    const isLive = (key: AttachmentKey): boolean =>
      valid.some(({ id, interfaceName }) => id === key.id && interfaceName === key.interfaceName)
    for (const record of await this.#records.list()) if (!isLive(record)) await this.remove(record)
    await this.#pool.releaseOthers(isLive)
  }

  /** Removes the bridge and the rules if no pod is connected. Returns true if none is. */
  async removeIfUnused(): Promise<boolean> {
    if ((await this.#records.list()).length > 0) return false
    await this.#rules.remove()
    withHostNetwork(this.#options.calls, undefined, (host) => removeBridge(host, this.#options.bridge))
    return true
  }

  /** Closes what it has open; it can be used again. */
  close(): void {
    this.#check.close()
  }

  /** They are created for the first pod that needs them. */
  get #rules(): HostPortRules {
    this.#createdRules ??= createRules(this.#rulesOptions)
    return this.#createdRules
  }

  /**
   * Connects a pod with addresses that no other host on the bridge has; returns those that others have.
   * @throws if one of them was requested, or after a number of attempts.
   */
  async #connectUnique(attachment: Attachment, first: readonly GivenAddress[]): Promise<UniqueConnection> {
    const conflicts: AddressConflict[] = []
    const { calls, bridge } = this.#options
    let given = first
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const outcome = withHostNetwork(calls, undefined, (host) => this.#connect(host, attachment, given))
      if ('result' in outcome) return { ...outcome, conflicts }
      conflicts.push(...outcome.conflicts)
      const requested = outcome.conflicts.find(({ address }) => attachment.requestedAddresses?.includes(address))
      if (requested)
        throw new Error(`the requested address ${requested.address} is in use by ${requested.hardware} on ${bridge}`)
      given = await this.#pool.replace(
        attachment,
        outcome.conflicts.map(({ address }) => address),
      )
    }
    throw new Error(
      `other hosts on ${bridge} have the addresses of the range: ${conflictsText(conflicts)}; ` +
        'give the node a range that no other network uses, or remove those hosts from the bridge',
    )
  }

  #connect(
    host: HostNetwork,
    attachment: Attachment,
    given: readonly GivenAddress[],
  ): { readonly result: NetworkResult } | { readonly conflicts: AddressConflict[] } {
    const { calls, bridge: name, hairpin, rangeSets } = this.#options
    const mtu = this.#options.mtu ?? defaultMtu(host)
    const gateways = rangeSets.flat().map((range) => withPrefix(range, range.gateway))
    const bridge = ensureBridge(host, { name, mtu, gateways })
    const addresses = given.map(({ address, range }) => ({
      address: withPrefix(range, address),
      gateway: range.gateway,
    }))
    const isUsed = (route: string): boolean =>
      addresses.some(({ gateway }) => gateway.includes(':') === route.includes(':'))
    const routes = (this.#options.routes ?? everything).filter(isUsed)
    const options = { bridge, mtu, hairpin, addresses, routes }
    const conflictsOf = this.#probe(host, bridge, attachment, given)
    const hostEnd = createInterface(host, attachment, options)
    const conflicts = conflictsOf()
    if (conflicts.length > 0) {
      host.links.remove(hostEnd)
      return { conflicts }
    }
    const podEnd = configureInterface(calls, attachment, options)
    const { mtu: size } = podEnd
    const result = {
      interfaces: [
        { name, mac: host.links.find(name)?.address ?? bridge.address, mtu: size },
        { name: hostEnd.name, mac: hostEnd.address, mtu: size },
        { name: podEnd.name, mac: podEnd.address, mtu: size, sandbox: attachment.namespace },
      ],
      ips: addresses.map((one) => ({ interface: 2, ...one })),
      routes: routes.map((dst) => ({ dst })),
      dns: {},
    }
    return { result }
  }

  /** Nobody else is on a bridge without ports. */
  #probe(
    { links }: HostNetwork,
    { name }: Link,
    attachment: Attachment,
    given: readonly GivenAddress[],
  ): () => AddressConflict[] {
    const present = links.list()
    const bridge = present.find((link) => link.name === name)
    const own = hostInterfaceName(attachment)
    if (!bridge || !present.some((link) => link.master === bridge.index && link.name !== own)) return () => []
    return this.#check.probe(
      bridge,
      given.map(({ address }) => address),
    )
  }

  #watched({ pod, namespace }: Attachment, { interfaces }: NetworkResult): Pick<AttachmentRecord, 'watched'> {
    const hardware = interfaces.find(({ sandbox }) => sandbox === namespace)?.mac
    if (pod === undefined || hardware === undefined) return {}
    return { watched: { pod, bridge: this.#options.bridge, hardware, namespace } }
  }

  async #openPorts({ hostPorts, addresses }: AttachmentRecord): Promise<void> {
    if (hostPorts.length > 0) {
      const pod = { addresses, ports: hostPorts }
      await this.#rules.open(pod)
      allowLoopback(this.#options.bridge)
      const { calls } = this.#options
      const present = withHostNetwork(calls, undefined, (host) => host.addresses.list())
      removeEarlierConnections(
        calls,
        pod,
        present.map(({ address }) => ipOf(address)),
      )
    } else if (this.#options.masquerade) {
      await this.#rules.setUp()
      // Load balancers at loopback addresses; the rules keep pods off the host's loopback.
      allowLoopback(this.#options.bridge)
    }
  }

  async #closePorts({ addresses, hostPorts }: AttachmentRecord): Promise<void> {
    const pod = { addresses, ports: hostPorts }
    await this.#rules.close(pod)
    removeConnectionsTo(this.#options.calls, pod)
  }

  async #checkPorts(attachment: Attachment): Promise<void> {
    const { id, hostPorts = [] } = attachment
    if (hostPorts.length === 0) return
    const others = (await this.#records.list()).filter((record) => record.id !== id)
    const taken = takenPort(
      hostPorts,
      others.flatMap((record) => record.hostPorts),
    )
    if (!taken) return
    const owner = others.find((record) => takenPort([taken], record.hostPorts))
    throw new Error(`host port ${taken.hostPort}/${taken.protocol} is in use by the pod sandbox ${owner?.id}`)
  }
}

/** The interface of the default route of IPv4 gives the size. */
function defaultMtu({ links, routes }: HostNetwork): number | undefined {
  const route = routes.list().find(({ destination }) => destination === '0.0.0.0/0')
  return links.list().find(({ index }) => index === route?.link)?.mtu
}
