/** The rules in effect for each Service, and the input of `iptables-restore` that brings a picture into effect. */

import { RestoreText } from '../../../iptables/restore-text.ts'
import { countRule, parseSaved, type SavedTables } from '../../../iptables/saved-rules.ts'
import type { ProxiedPort, ServicePicture } from '../../picture/service-picture.ts'
import { isChainOfPort } from './rules/chain-names.ts'
import {
  canaryChain,
  forwardRules,
  jumps,
  kubeletFirewallChain,
  martianRule,
  masqueradeChainRules,
  nodePortJumps,
} from './rules/fixed-rules.ts'
import { type PortRules, portRules, type SharedRules } from './rules/port-rules.ts'
import type { RuleOptions } from './rules/rule-options.ts'

/** As in upstream: with more endpoints, their rules have no comments. */
const largeClusterEndpoints = 1000
/** With more changed rules, a chain is written as a whole: to find a rule for `-D` costs time for each. */
const manyChanges = 100

const sharedTables = ['filter', 'nat'] as const
type SharedTable = (typeof sharedTables)[number]

const chainOf = {
  services: 'KUBE-SERVICES',
  externalServices: 'KUBE-EXTERNAL-SERVICES',
  nodePorts: 'KUBE-NODEPORTS',
  proxyFirewall: 'KUBE-PROXY-FIREWALL',
} as const satisfies Record<keyof SharedRules, string>

const sharedKeys = ['services', 'externalServices', 'nodePorts', 'proxyFirewall'] as const

/** The state that is in effect for a Service: rules in shared chains, and its own chains. */
interface Written {
  readonly shared: Readonly<Record<SharedTable, Readonly<Record<keyof SharedRules, readonly string[]>>>>
  readonly chains: readonly string[]
  readonly endpoints: number
}

const nothing: Written = {
  shared: {
    filter: { services: [], externalServices: [], nodePorts: [], proxyFirewall: [] },
    nat: { services: [], externalServices: [], nodePorts: [], proxyFirewall: [] },
  },
  chains: [],
  endpoints: 0,
}

export class WrittenServices {
  readonly #written = new Map<string, Written>()
  #endpoints = 0

  /**
   * The input that brings all into effect, whatever there is now; `saved` is the output of `iptables-save`. Chains of
   * Services that no longer exist are deleted.
   */
  writeAll(picture: ServicePicture, options: RuleOptions, saved: string): string {
    this.#written.clear()
    this.#endpoints = 0
    for (const ports of picture.values()) this.#endpoints += endpointsOf(ports)
    const text = new RestoreText()
    const tables = parseSaved(saved)
    writeCanaries(text, tables)
    text.lines('nat', masqueradeChainRules(options))
    if (options.localhostNodePorts) {
      text.chain('filter', kubeletFirewallChain)
      text.lines('filter', [martianRule])
    }
    for (const [key, ports] of picture) this.#written.set(key, this.#writePorts(text, ports, options))
    for (const table of sharedTables) for (const key of sharedKeys) this.#writeShared(text, table, key, options)
    text.chain('filter', 'KUBE-FORWARD')
    text.lines('filter', forwardRules(options))
    text.chain('nat', 'KUBE-POSTROUTING')
    text.chain('nat', 'KUBE-MARK-MASQ')
    this.#deleteStaleChains(text, tables)
    writeJumps(text, tables, options)
    return text.toString()
  }

  /** The input that brings the changed Services into effect after `writeAll`. Empty if nothing changes. */
  writeChanged(picture: ServicePicture, changed: Iterable<string>, options: RuleOptions): string {
    const text = new RestoreText()
    const diffs = new SharedChanges()
    for (const key of changed) {
      const old = this.#written.get(key) ?? nothing
      const ports = picture.get(key) ?? []
      this.#endpoints += endpointsOf(ports) - old.endpoints
      const written = ports.length === 0 ? nothing : this.#writePorts(text, ports, options)
      if (ports.length === 0) this.#written.delete(key)
      else this.#written.set(key, written)
      diffs.add(old, written)
      const isUsed = new Set(written.chains)
      for (const chain of old.chains) if (!isUsed.has(chain)) text.deleteChain('nat', chain)
    }
    for (const table of sharedTables)
      for (const key of sharedKeys)
        if (diffs.count(table, key) > manyChanges) this.#writeShared(text, table, key, options)
        else text.lines(table, diffs.lines(table, key))
    return text.toString()
  }

  #writePorts(text: RestoreText, ports: readonly ProxiedPort[], options: RuleOptions): Written {
    const isLarge = this.#endpoints > largeClusterEndpoints
    const all = ports.map((port) => portRules(port, options, isLarge))
    for (const { chains } of all) for (const [chain, rules] of chains) text.chain('nat', chain, rules)
    return {
      shared: { filter: mergedRules(all, 'filter'), nat: mergedRules(all, 'nat') },
      chains: all.flatMap(({ chains }) => [...chains.keys()]),
      endpoints: endpointsOf(ports),
    }
  }

  /** Writes a chain that all Services share. */
  #writeShared(text: RestoreText, table: SharedTable, key: keyof SharedRules, options: RuleOptions): void {
    if (table === 'nat' && (key === 'externalServices' || key === 'proxyFirewall')) return
    const rules: string[] = []
    for (const { shared } of this.#written.values()) for (const rule of shared[table][key]) rules.push(rule)
    if (table === 'nat' && key === 'services') rules.push(...nodePortJumps(options))
    text.chain(table, chainOf[key], rules)
  }

  #deleteStaleChains(text: RestoreText, tables: SavedTables): void {
    const isUsed = new Set<string>()
    for (const { chains } of this.#written.values()) for (const chain of chains) isUsed.add(chain)
    for (const chain of tables.nat.chains)
      if (isChainOfPort(chain) && !isUsed.has(chain)) text.deleteChain('nat', chain)
  }
}

/** Rules that shared chains lose and get. */
class SharedChanges {
  readonly #removed = new Map<string, string[]>()
  readonly #added = new Map<string, string[]>()

  add(old: Written, written: Written): void {
    for (const table of sharedTables)
      for (const key of sharedKeys) {
        const before = old.shared[table][key]
        const after = written.shared[table][key]
        append(
          this.#removed,
          `${table}/${key}`,
          before.filter((rule) => !after.includes(rule)),
        )
        append(
          this.#added,
          `${table}/${key}`,
          after.filter((rule) => !before.includes(rule)),
        )
      }
  }

  count(table: SharedTable, key: keyof SharedRules): number {
    return this.#of(this.#removed, table, key).length + this.#of(this.#added, table, key).length
  }

  lines(table: SharedTable, key: keyof SharedRules): string[] {
    // The rule of node ports remains the last one of KUBE-SERVICES.
    const how = table === 'nat' && key === 'services' ? '-I' : '-A'
    return [
      ...this.#of(this.#removed, table, key).map((rule) => `-D ${chainOf[key]} ${rule}`),
      ...this.#of(this.#added, table, key).map((rule) => `${how} ${chainOf[key]} ${rule}`),
    ]
  }

  #of(rules: ReadonlyMap<string, string[]>, table: SharedTable, key: keyof SharedRules): readonly string[] {
    return rules.get(`${table}/${key}`) ?? []
  }
}

function append(to: Map<string, string[]>, key: string, rules: readonly string[]): void {
  if (rules.length === 0) return
  const known = to.get(key)
  if (known) known.push(...rules)
  else to.set(key, [...rules])
}

const endpointsOf = (ports: readonly ProxiedPort[]): number =>
  ports.reduce((sum, { endpoints }) => sum + endpoints.all.length, 0)

const mergedRules = (all: readonly PortRules[], table: SharedTable): Written['shared'][SharedTable] => ({
  services: all.flatMap((rules) => rules[table].services),
  externalServices: all.flatMap((rules) => rules[table].externalServices),
  nodePorts: all.flatMap((rules) => rules[table].nodePorts),
  proxyFirewall: all.flatMap((rules) => rules[table].proxyFirewall),
})

function writeCanaries(text: RestoreText, tables: SavedTables): void {
  for (const table of ['mangle', 'nat', 'filter'] as const)
    if (!tables[table].chains.has(canaryChain)) text.chain(table, canaryChain)
}

/** Inserts jumps that are missing, so that rules of others keep their order. */
function writeJumps(text: RestoreText, tables: SavedTables, { localhostNodePorts }: RuleOptions): void {
  if (!localhostNodePorts && !tables.filter.chains.has(kubeletFirewallChain)) text.chain('filter', kubeletFirewallChain)
  for (const { table, from, rule } of jumps)
    if (countRule(tables[table], from, rule) === 0) text.lines(table, [`-I ${from} ${rule}`])
}
