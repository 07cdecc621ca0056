/**
 * The table of network policies in nftables. Packets that pods send and receive are looked up by their addresses, after
 * Services were translated; the pods of a node that policies select have a chain for each direction.
 */
import { SystemCallError } from '../../../lib/linux/c-library.ts'
import { verdict, verdictOfMap } from '../../netlink/nftables/actions.ts'
import {
  addChain,
  addElements,
  addRule,
  addSet,
  addTable,
  type BaseChain,
  type Command,
  deleteChain,
  deleteElements,
  deleteSet,
  deleteTable,
  flushChain,
  type Rule,
  ruleText,
  type TableSet,
} from '../../netlink/nftables/commands.ts'
import { addressSelector, type Expression } from '../../netlink/nftables/expression.ts'
import { isKnownConnection, isNeighborDiscovery } from '../../netlink/nftables/matches.ts'
import type { Table } from '../../netlink/nftables/table-socket.ts'
import type { Direction } from '../picture/pod-rules.ts'
import { addressTypeOf, type TableState } from './table-state.ts'

/** Before the rules of firewalls, which may accept. */
const priority = -10
const directions = ['Egress', 'Ingress'] as const

const emptyState: TableState = {
  chains: new Map(),
  sets: new Map(),
  isolated: { Ingress: new Map(), Egress: new Map() },
}

export class PolicyTable {
  readonly #table: Table
  readonly #family: 4 | 6
  #applied: TableState | undefined
  /** Chains and sets that nothing refers to. */
  readonly #chainsToDelete = new Set<string>()
  readonly #setsToDelete = new Set<string>()

  constructor(table: Table, family: 4 | 6) {
    this.#table = table
    this.#family = family
  }

  /**
   * Brings the state into effect, in one transaction. The first call replaces what an earlier process has left.
   * @throws an error of the kernel; the next call replaces everything.
   */
  apply(wanted: TableState): void {
    const before = this.#applied
    this.#applied = undefined
    this.#table.change([...(before ? [] : this.#layout()), ...this.#changes(before ?? emptyState, wanted)])
    this.#applied = wanted
    this.#deleteLeftovers(wanted)
  }

  /** Removes the table. Does nothing if there is none. */
  remove(): void {
    this.#applied = undefined
    try {
      this.#table.change([deleteTable])
    } catch (error) {
      if (!(error instanceof SystemCallError) || error.code !== 'ENOENT') throw error
    }
  }

  /** A new table in place of an earlier one. Node processes reach all pods: nothing is checked on output. */
  #layout(): Command[] {
    const passes = (condition: Expression) => ({ expressions: [condition, verdict({ action: 'return' })] })
    // They have the addresses of pods, too.
    const passing = [passes(isKnownConnection), ...(this.#family === 6 ? [passes(isNeighborDiscovery)] : [])]
    const lookUp = (direction: Direction) => ({
      expressions: [
        verdictOfMap([addressSelector(this.#family, direction === 'Ingress' ? 'daddr' : 'saddr')], mapNames[direction]),
      ],
    })
    const base = (hook: BaseChain['hook']): BaseChain => ({ type: 'filter', hook, priority })
    const comment = 'network policies of pods'
    return [
      addTable(comment),
      deleteTable,
      addTable(comment),
      ...directions.map((direction) => addSet(this.#map(direction))),
      addChain('forward', 'packets from and to pods', base('forward')),
      addChain('input', 'packets from pods to this machine', base('input')),
      ...[...passing, lookUp('Egress'), lookUp('Ingress')].map((rule) => addRule('forward', rule)),
      ...[...passing, lookUp('Egress')].map((rule) => addRule('input', rule)),
    ]
  }

  #map(direction: Direction): TableSet {
    return { name: mapNames[direction], keyTypes: [addressTypeOf(this.#family)], isVerdictMap: true }
  }

  #changes(before: TableState, wanted: TableState): Command[] {
    const newSets = [...wanted.sets].filter(([name]) => !before.sets.has(name))
    const newChains = [...wanted.chains.keys()].filter((name) => !before.chains.has(name))
    const changed = [...wanted.chains].filter(([name, rules]) => textOf(rules) !== textOf(before.chains.get(name)))
    for (const name of before.chains.keys()) if (!wanted.chains.has(name)) this.#chainsToDelete.add(name)
    for (const name of before.sets.keys()) if (!wanted.sets.has(name)) this.#setsToDelete.add(name)
    return [
      ...newSets.map(([name, { keyTypes }]) => addSet({ name, keyTypes })),
      ...[...wanted.sets].flatMap(([name, set]) =>
        this.#elementChanges(name, set.keyTypes, before.sets.get(name), set),
      ),
      ...newChains.map((name) => addChain(name)),
      ...changed.map(([name]) => flushChain(name)),
      ...changed.flatMap(([name, rules]) => rules.map((rule) => addRule(name, rule))),
      ...directions.flatMap((direction) => this.#mapChanges(direction, before, wanted)),
      ...[...before.chains.keys()].filter((name) => !wanted.chains.has(name)).map(flushChain),
      // They are empty if they come back before they are deleted.
      ...[...before.sets].flatMap(([name, set]) =>
        wanted.sets.has(name) ? [] : this.#elementChanges(name, set.keyTypes, set, noElements),
      ),
    ]
  }

  #elementChanges(
    name: string,
    keyTypes: TableSet['keyTypes'],
    before: { readonly elements: ReadonlySet<string> } | undefined,
    wanted: { readonly elements: ReadonlySet<string> },
  ): Command[] {
    const set: TableSet = { name, keyTypes }
    const removed = [...(before?.elements ?? [])].filter((element) => !wanted.elements.has(element))
    const added = [...wanted.elements].filter((element) => !before?.elements.has(element))
    return [
      ...(removed.length > 0 ? [deleteElements(set, removed)] : []),
      ...(added.length > 0
        ? [
            addElements(
              set,
              added.map((key) => ({ key })),
            ),
          ]
        : []),
    ]
  }

  #mapChanges(direction: Direction, before: TableState, wanted: TableState): Command[] {
    const map = this.#map(direction)
    const [old, now] = [before.isolated[direction], wanted.isolated[direction]]
    const removed = [...old].filter(([address, chain]) => now.get(address) !== chain).map(([address]) => address)
    const added = [...now].filter(([address, chain]) => old.get(address) !== chain)
    const elements = added.map(([key, chain]) => ({ key, verdict: { action: 'jump', chain } as const }))
    return [
      ...(removed.length > 0 ? [deleteElements(map, removed)] : []),
      ...(elements.length > 0 ? [addElements(map, elements)] : []),
    ]
  }

  /** Kernels before 6.2 notice only after a while that nothing refers to a chain: the next call tries again. */
  #deleteLeftovers(wanted: TableState): void {
    for (const name of wanted.chains.keys()) this.#chainsToDelete.delete(name)
    for (const name of wanted.sets.keys()) this.#setsToDelete.delete(name)
    for (const [names, command] of [
      [this.#chainsToDelete, deleteChain],
      [this.#setsToDelete, deleteSet],
    ] as const) {
      if (names.size === 0) continue
      try {
        this.#table.change([...names].map(command))
        names.clear()
      } catch (error) {
        if (!(error instanceof SystemCallError) || error.code !== 'EBUSY') throw error
      }
    }
  }
}

const noElements = { elements: new Set<string>() }

const mapNames = { Ingress: 'ingress-pods', Egress: 'egress-pods' } as const

const textOf = (rules: readonly Rule[] | undefined): string => rules?.map(ruleText).join('\n') ?? ''
