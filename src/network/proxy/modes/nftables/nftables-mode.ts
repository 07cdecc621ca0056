/**
 * The mode `nftables` of kube-proxy: a table for each IP family, `kube-proxy`, which maps the address and port of a
 * Service to a chain that chooses an endpoint (KEP-3866). A sync is one transaction with what has changed.
 */
import { SystemCallError } from '../../../../lib/linux/c-library.ts'
import { systemCalls } from '../../../../lib/linux/system-calls.ts'
import { addRule, deleteChain, deleteTable } from '../../../netlink/nftables/commands.ts'
import { type Table, TableSocket } from '../../../netlink/nftables/table-socket.ts'
import type { ServicePicture } from '../../picture/service-picture.ts'
import type { ModeOptions } from '../mode-options.ts'
import type { ChangedServices, ProxyMode } from '../proxy-mode.ts'
import { type AppliedService, ServiceChanges } from './service-changes.ts'
import { serviceObjects } from './service-objects.ts'
import { SetContents } from './set-contents.ts'
import { addressType, layoutChains, type TableSets, tableSets } from './table-layout.ts'
import { layoutCommands, nodePortAddressCommands, resetCommands } from './table-reset.ts'

/** Kernels before 6.2 notice only after a while that no element refers to a chain. */
const staleAfterMs = 1000

/**
 * Needs root, and the optional package koffi; not the program `nft`.
 * @throws if koffi is not installed.
 */
export function createNftablesMode(options: ModeOptions): ProxyMode {
  const name = options.instance === undefined ? 'kube-proxy' : `t8s_proxy_${options.instance}`
  return new NftablesMode(options, new TableSocket(systemCalls(), options.family, name))
}

export class NftablesMode implements ProxyMode {
  readonly #options: ModeOptions
  readonly #table: Table
  readonly #sets: TableSets
  readonly #applied = new Map<string, AppliedService>()
  /** Chains to delete, and since when nothing refers to them. */
  readonly #staleChains = new Map<string, number>()
  #contents = new SetContents()
  #isKnown = false

  constructor(options: ModeOptions, table: Table) {
    this.#options = options
    this.#table = table
    this.#sets = tableSets(options.family)
  }

  async sync(picture: ServicePicture, changed: ChangedServices): Promise<void> {
    const isFull = changed === 'all' || !this.#isKnown
    try {
      if (isFull) this.#syncAll(picture)
      else this.#syncChanged(picture, changed)
    } catch (error) {
      this.#isKnown = false
      throw error
    }
  }

  async wasFlushed(): Promise<boolean> {
    return this.#isKnown && !this.#table.hasRules('nat-prerouting')
  }

  async stop(): Promise<void> {}

  async cleanUp(): Promise<void> {
    this.#isKnown = false
    try {
      this.#table.change([deleteTable])
    } catch (error) {
      if (!(error instanceof SystemCallError) || error.code !== 'ENOENT') throw error
    }
  }

  /** Replaces all rules in one transaction: packets find the old ones or the new ones. */
  #syncAll(picture: ServicePicture): void {
    const layout = layoutChains(this.#options)
    this.#contents = new SetContents()
    this.#applied.clear()
    const changes = this.#changes()
    const wantedSets = new Map<string, number>()
    for (const [key, ports] of picture) {
      const wanted = serviceObjects(ports, this.#sets, this.#options)
      for (const [name, seconds] of wanted.affinitySets) wantedSets.set(name, seconds)
      this.#applied.set(key, changes.update(key, undefined, wanted))
    }
    const chains = this.#table.chains()
    // Before the first sync, base chains may be those of another version.
    const base = new Set(layout.filter((chain) => chain.base).map(({ name }) => name))
    const replaced = this.#isKnown ? [] : chains.filter((chain) => base.has(chain))
    this.#table.change([
      ...resetCommands(this.#table.sets(), wantedSets, replaced),
      ...layoutCommands(this.#sets, layout),
      ...nodePortAddressCommands(this.#options),
      ...layout.flatMap(({ name, rules }) => rules.map((rule) => addRule(name, rule))),
      ...changes.commands(),
    ])
    this.#isKnown = true
    this.#findStaleChains(chains, new Set(layout.map(({ name }) => name)))
  }

  #syncChanged(picture: ServicePicture, changed: ReadonlySet<string>): void {
    this.#deleteStaleChains()
    const changes = this.#changes()
    for (const key of changed) {
      const wanted = serviceObjects(picture.get(key) ?? [], this.#sets, this.#options)
      const applied = changes.update(key, this.#applied.get(key), wanted)
      if (picture.has(key)) this.#applied.set(key, applied)
      else this.#applied.delete(key)
      for (const chain of applied.chains.keys()) this.#staleChains.delete(chain)
    }
    this.#table.change(changes.commands())
    for (const chain of changes.removedChains) this.#staleChains.set(chain, this.#options.now())
  }

  #changes(): ServiceChanges {
    return new ServiceChanges(addressType(this.#options.family), this.#contents)
  }

  #findStaleChains(found: readonly string[], layout: ReadonlySet<string>): void {
    const wanted = new Set(layout)
    for (const { chains } of this.#applied.values()) for (const chain of chains.keys()) wanted.add(chain)
    this.#staleChains.clear()
    for (const chain of found) if (!wanted.has(chain)) this.#staleChains.set(chain, this.#options.now())
  }

  #deleteStaleChains(): void {
    const limit = this.#options.now() - staleAfterMs
    const stale = [...this.#staleChains].filter(([, since]) => since <= limit).map(([chain]) => chain)
    if (stale.length === 0) return
    try {
      this.#table.change(stale.map(deleteChain))
      for (const chain of stale) this.#staleChains.delete(chain)
    } catch (error) {
      this.#options.log(`chains without references remain until the next sync: ${String(error)}`)
    }
  }
}
