/** A node on which a mode of kube-proxy serves the Services of a test, in one IP family. */
import type { ModeOptions } from '../../../src/network/proxy/modes/mode-options.ts'
import type { ProxyMode } from '../../../src/network/proxy/modes/proxy-mode.ts'
import type { AskedPeer } from './asked-peer.ts'
import { clientAddresses, type Lab, nodeAddresses, podAddress, podNumbers, podRanges, serviceRanges } from './lab.ts'
import { TestPicture, type TestService } from './picture.ts'

export type CreateMode = (options: ModeOptions) => ProxyMode

/** The differences between modes that hold for all tests. */
export interface ModeTraits {
  /** Endpoints see the addresses of pods, and of clients with the policy `Local`. False: that of the node. */
  readonly retainsClients: boolean
  /** Open connections survive a restart of the mode. */
  readonly survivesRestarts: boolean
}

/** The kernel translates addresses. */
export const kernelTraits: ModeTraits = { retainsClients: true, survivesRestarts: true }

/** The number of the node's address in the network of pods. */
const gateway = 1

export const bothPods = [{ pod: podNumbers.first }, { pod: podNumbers.second }] as const

/** The options of the mode on the node of the lab. */
export const modeOptions = (family: 4 | 6): ModeOptions => ({
  family,
  node: 'node-1',
  nodePortAddresses: () => ({ isAll: false, addresses: [nodeAddresses[family]] }),
  nodeAddress: nodeAddresses[family],
  localTraffic: { kind: 'cidrs', cidrs: [podRanges[family]] },
  masqueradeAll: false,
  masqueradeBit: 14,
  serviceCidrs: () => [serviceRanges[family]],
  localhostNodePorts: false,
  servedInterfaces: undefined,
  instance: undefined,
  runProgram: () => Promise.reject(new Error('no program is needed')),
  log: (line) => console.log(line),
  now: Date.now,
})

export class ServedNode {
  readonly family: 4 | 6
  readonly host: AskedPeer
  readonly client: AskedPeer
  readonly traits: ModeTraits
  readonly #lab: Lab
  readonly #createMode: CreateMode
  readonly #services: TestPicture
  #mode: ProxyMode

  constructor(lab: Lab, family: 4 | 6, createMode: CreateMode, traits = kernelTraits) {
    this.traits = traits
    this.family = family
    this.host = lab.node
    this.client = lab.client
    this.#lab = lab
    this.#createMode = createMode
    this.#services = new TestPicture(family)
    this.#mode = createMode(modeOptions(family))
  }

  get mode(): ProxyMode {
    return this.#mode
  }

  get address(): string {
    return nodeAddresses[this.family]
  }

  /** The client's address as endpoints see it with the policy `Local`. */
  get clientAddress(): string {
    return this.traits.retainsClients ? clientAddresses[this.family] : this.seenAs(gateway)
  }

  pod = (number: number): AskedPeer => this.#lab.pods.get(number)!
  /** The address of a pod, or of the gateway, as endpoints see it. */
  seenAs = (number: number): string => podAddress(this.family, this.traits.retainsClients ? number : gateway)
  clusterIP = (number: number): string => (this.family === 4 ? `10.96.0.${number}` : `fd00:96::${number}`)
  /** An address outside of the cluster that Services have. */
  externalIP = (number: number): string => (this.family === 4 ? `198.51.100.${number}` : `2001:db8:1::${number}`)

  /** Sets Services, and syncs what has changed. */
  sync(...services: readonly TestService[]): Promise<void> {
    const changed = this.#services.set(...services)
    return this.#mode.sync(this.#services.picture, changed)
  }

  /** Sets Services without a sync. */
  set = (...services: readonly TestService[]): void => void this.#services.set(...services)

  syncAll = (): Promise<void> => this.#mode.sync(this.#services.picture, 'all')

  delete(name: string): Promise<void> {
    const changed = this.#services.delete(name)
    return this.#mode.sync(this.#services.picture, changed)
  }

  /** Starts another mode; by default the same. The rules of the last one remain until it has synced. */
  async restart(createMode: CreateMode = this.#createMode): Promise<void> {
    await this.#mode.stop()
    this.#mode = createMode(modeOptions(this.family))
    await this.syncAll()
  }

  wasFlushed = async (): Promise<boolean | undefined> => this.#mode.wasFlushed?.()
  cleanUp = (): Promise<void> => this.#mode.cleanUp()

  /** The names of the servers that answer connections one after another. */
  async names(peer: AskedPeer, address: string, port: number, count = 16): Promise<string[]> {
    const answers = await peer.all({ protocol: 'tcp', address, port, count })
    return [...new Set(answers.map((answer) => answer.split(' ')[0] ?? ''))].sort()
  }
}
