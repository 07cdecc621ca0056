/** Keeps keys and connections of charon equal to those for the other nodes. Connections of others are not touched. */
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../../../../lib/message-of.ts'
import type { IpsecConfig } from '../ipsec-config.ts'
import { childName, connectionName, connectionSection, type Endpoint, isOwnConnection } from '../ipsec-peer.ts'
import type { ViciClient } from '../vici/vici-client.ts'
import type { ViciSection } from '../vici/vici-message.ts'
import { type ConnectionState, connectionStates } from './connection-state.ts'

/** A connection without states is started again after this time, in ms. */
const restartMs = 30_000
const keyPrefix = 'flannel-'
/** The answer comes before the command has an effect. */
const withoutWaiting = { timeout: '-1' } as const

export interface ConnectionsOptions {
  readonly own: Endpoint
  /** The network of all nodes. */
  readonly network: string
  readonly config: IpsecConfig
  readonly log: (line: string) => void
}

type Client = Pick<ViciClient, 'request' | 'stream'>

export class CharonConnections {
  readonly #options: ConnectionsOptions
  /** Connections as they were loaded by this process, by their names. */
  #loaded = new Map<string, ViciSection>()
  #keys = new Set<string>()
  /** When each connection was started last, in ms. */
  readonly #startedAt = new Map<string, number>()
  #states: ReadonlyMap<string, ConnectionState> = new Map()

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  /**
   * Loads what is missing or different, and removes what is stale. `canRestart`: connections whose states were lost are
   * started again. Rejects with the reason of each part that failed; the others are in effect.
   */
  async sync(client: Client, peers: readonly Endpoint[], now: number, canRestart: boolean): Promise<void> {
    const failures: string[] = []
    const attempt = (call: Promise<unknown>): Promise<unknown> => call.catch((error) => failures.push(messageOf(error)))
    const loaded = await names(client, 'get-conns', 'conns')
    const keys = await names(client, 'get-shared', 'keys')
    const wanted = new Map(peers.map((peer) => [connectionName(this.#options.own, peer), peer]))
    for (const { address } of [this.#options.own, ...peers])
      if (!keys.has(keyPrefix + address) || !this.#keys.has(address)) await attempt(this.#loadKey(client, address))
    for (const [name, peer] of wanted) {
      const section = connectionSection(this.#options.own, peer, this.#options.config)
      if (loaded.has(name) && isDeepStrictEqual(this.#loaded.get(name), section)) continue
      await attempt(this.#load(client, name, section, now))
    }
    for (const name of loaded)
      if (isOwnConnection(this.#options.network, name) && !wanted.has(name)) await attempt(this.#unload(client, name))
    const addresses = new Set([this.#options.own, ...peers].map(({ address }) => keyPrefix + address))
    for (const key of keys)
      if (key.startsWith(keyPrefix) && !addresses.has(key)) await attempt(this.#unloadKey(client, key))
    await attempt(this.#checkStates(client, wanted, now, canRestart))
    if (failures.length > 0) throw new Error(failures.join('; '))
  }

  async #loadKey(client: Client, address: string): Promise<void> {
    const { presharedKey } = this.#options.config
    await client.request('load-shared', { id: keyPrefix + address, type: 'IKE', data: presharedKey, owners: [address] })
    this.#keys.add(address)
    this.#options.log(`ipsec: Loaded shared key for: ${address}`)
  }

  async #unloadKey(client: Client, id: string): Promise<void> {
    await client.request('unload-shared', { id })
    this.#keys.delete(id.slice(keyPrefix.length))
  }

  /** An equal connection of charon, with its states, remains as it is. */
  async #load(client: Client, name: string, section: ViciSection, now: number): Promise<void> {
    await client.request('load-conn', { [name]: section })
    this.#loaded.set(name, section)
    this.#startedAt.set(name, now)
    this.#options.log(`ipsec: Loaded connection: ${name}`)
  }

  async #unload(client: Client, name: string): Promise<void> {
    await client.request('unload-conn', { name })
    this.#loaded.delete(name)
    this.#startedAt.delete(name)
    const remaining = await client.stream('list-sas', 'list-sa', { ike: name })
    // The node may not answer any more.
    const message = { ike: name, force: 'yes', ...withoutWaiting }
    if (remaining.length > 0) await client.request('terminate', message).catch(ignoreEnded)
    this.#options.log(`ipsec: Unloaded connection: ${name}`)
  }

  /** Logs changes of connections, and starts those again that charon gave up. */
  async #checkStates(
    client: Client,
    wanted: ReadonlyMap<string, Endpoint>,
    now: number,
    canRestart: boolean,
  ): Promise<void> {
    const states = connectionStates(await client.stream('list-sas', 'list-sa'))
    for (const [name, peer] of wanted) {
      const state = states.get(name) ?? 'missing'
      const before = this.#states.get(name) ?? 'missing'
      const way = `${peer.subnet} by ${peer.address}`
      if (state === 'connected' && before !== state) this.#options.log(`ipsec: connected to ${way}`)
      if (state !== 'connected' && before === 'connected') this.#options.log(`ipsec: not connected to ${way}`)
      const isDue = now - (this.#startedAt.get(name) ?? now) >= restartMs
      if (!canRestart || state === 'connected' || state === 'connecting' || !isDue) continue
      this.#startedAt.set(name, now)
      await client.request('initiate', { child: childName(this.#options.own, peer), ike: name, ...withoutWaiting })
    }
    this.#states = states
  }
}

async function names(client: Client, command: string, field: string): Promise<ReadonlySet<string>> {
  const found = (await client.request(command))[field]
  return new Set(Array.isArray(found) ? found.map(String) : [])
}

/** charon itself ends associations of a connection that it unloads. */
function ignoreEnded(error: unknown): void {
  if (!messageOf(error).includes('no matching SAs')) throw error
}
