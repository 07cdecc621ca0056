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
  type TableSet,
} from '../../netlink/nftables/commands.ts'
import { addressSelector, type Expression } from '../../netlink/nftables/expression.ts'
import { isInSet, isKnownConnection, isNeighborDiscovery } from '../../netlink/nftables/matches.ts'
import type { Table } from '../../netlink/nftables/table-socket.ts'
import { goTo } from '../../netlink/nftables/values.ts'
import { type Direction, directions } from '../picture/compiled-policy.ts'
import type { PolicyBackend, PolicySet, PolicyState } from '../rules/policy-state.ts'
import { addressTypeOf, keyTypesOf, rulesOf } from './rule-expressions.ts'

/** Before the rules of firewalls, which may accept. */
const priority = -10

const emptyState: PolicyState = {
  chains: new Map(),
  sets: new Map(),
  isolated: { Ingress: new Map(), Egress: new Map() },
  selfIsolated: { Ingress: new Map(), Egress: new Map() },
}

export class PolicyTable implements PolicyBackend {
  readonly #table: Table
  readonly #family: 4 | 6
  #applied: PolicyState | undefined
  /** Chains and sets that nothing refers to. */
  readonly #chainsToDelete = new Set<string>()
  readonly #setsToDelete = new Set<string>()

  constructor(table: Table, family: 4 | 6) {
    this.#table = table
    this.#family = family
  }

  /**
   * Brings the state into effect, in one transaction. The first call replaces what an earlier process has left.
   * Rejects with an error of the kernel; the next call replaces everything.
   */
  async apply(wanted: PolicyState): Promise<void> {
    const before = this.#applied
    this.#applied = undefined
    this.#table.change([...(before ? [] : this.#layout()), ...this.#changes(before ?? emptyState, wanted)])
    this.#applied = wanted
    this.#deleteLeftovers(wanted)
  }

  /** Removes the table. Does nothing if there is none. */
  async remove(): Promise<void> {
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
    const ends = [addressSelector(this.#family, 'saddr'), addressSelector(this.#family, 'daddr')]
    const lookUp = (direction: Direction, names: Readonly<Record<Direction, string>> = mapNames) => ({
      expressions: [
        verdictOfMap([addressSelector(this.#family, direction === 'Ingress' ? 'daddr' : 'saddr')], names[direction]),
      ],
    })
    const toItself = { expressions: [isInSet(ends, this.#selfSet.name), verdict(goTo(selfChain))] }
    const base = (hook: BaseChain['hook']): BaseChain => ({ type: 'filter', hook, priority })
    const comment = 'network policies of pods'
    return [
      addTable(comment),
      deleteTable,
      addTable(comment),
      ...[mapNames, selfMapNames].flatMap((names) => directions.map((one) => addSet(this.#map(names[one])))),
      addSet(this.#selfSet),
      addChain(selfChain, 'packets of pods to themselves'),
      addChain('forward', 'packets from and to pods', base('forward')),
      addChain('input', 'packets from pods to this machine', base('input')),
      ...directions.map((direction) => addRule(selfChain, lookUp(direction, selfMapNames))),
      ...[...passing, toItself, lookUp('Egress'), lookUp('Ingress')].map((rule) => addRule('forward', rule)),
      ...[...passing, lookUp('Egress')].map((rule) => addRule('input', rule)),
    ]
  }

  /** Pairs of equal addresses. */
  get #selfSet(): TableSet {
    const type = addressTypeOf(this.#family)
    return { name: 'self', keyTypes: [type, type] }
  }

  #map(name: string): TableSet {
    return { name, keyTypes: [addressTypeOf(this.#family)], isVerdictMap: true }
  }

  #changes(before: PolicyState, wanted: PolicyState): Command[] {
    const newSets = [...wanted.sets].filter(([name]) => !before.sets.has(name))
    const newChains = [...wanted.chains.keys()].filter((name) => !before.chains.has(name))
    const changed = [...wanted.chains].filter(([name, chain]) => before.chains.get(name) !== chain)
    for (const name of before.chains.keys()) if (!wanted.chains.has(name)) this.#chainsToDelete.add(name)
    for (const name of before.sets.keys()) if (!wanted.sets.has(name)) this.#setsToDelete.add(name)
    return [
      ...newSets.map(([name, { kind }]) => addSet({ name, keyTypes: keyTypesOf(kind, this.#family) })),
      ...[...wanted.sets].flatMap(([name, set]) => this.#elementChanges(name, before.sets.get(name), set)),
      ...newChains.map((name) => addChain(name)),
      ...changed.map(([name]) => flushChain(name)),
      ...changed.flatMap(([name, chain]) => rulesOf(chain, this.#family).map((rule) => addRule(name, rule))),
      ...directions.flatMap((one) => [
        ...this.#mapChanges(mapNames[one], before.isolated[one], wanted.isolated[one]),
        ...this.#mapChanges(selfMapNames[one], before.selfIsolated[one], wanted.selfIsolated[one]),
      ]),
      ...this.#selfChanges(before, wanted),
      ...[...before.chains.keys()].filter((name) => !wanted.chains.has(name)).map(flushChain),
      // They are empty if they come back before they are deleted.
      ...[...before.sets].flatMap(([name, set]) =>
        wanted.sets.has(name) ? [] : this.#elementChanges(name, set, { ...set, elements: noElements }),
      ),
    ]
  }

  #elementChanges(name: string, before: PolicySet | undefined, wanted: PolicySet): Command[] {
    if (before === wanted) return []
    const set = { name, keyTypes: keyTypesOf(wanted.kind, this.#family) }
    return changesOfSet(set, before?.elements ?? noElements, wanted.elements)
  }

  #selfChanges(before: PolicyState, wanted: PolicyState): Command[] {
    const pairsOf = ({ isolated }: PolicyState): ReadonlySet<string> =>
      new Set(directions.flatMap((direction) => [...isolated[direction].keys()].map((one) => `${one} . ${one}`)))
    return changesOfSet(this.#selfSet, pairsOf(before), pairsOf(wanted))
  }

  #mapChanges(name: string, old: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Command[] {
    const map = this.#map(name)
    const removed = [...old].filter(([address, chain]) => now.get(address) !== chain).map(([address]) => address)
    const added = [...now].filter(([address, chain]) => old.get(address) !== chain)
    const elements = added.map(([key, chain]) => ({ key, verdict: { action: 'jump', chain } as const }))
    return [
      ...(removed.length > 0 ? [deleteElements(map, removed)] : []),
      ...(elements.length > 0 ? [addElements(map, elements)] : []),
    ]
  }

  /** Kernels before 6.2 notice only after a while that nothing refers to a chain: the next call tries again. */
  #deleteLeftovers(wanted: PolicyState): void {
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

const noElements: ReadonlySet<string> = new Set()

const mapNames = { Ingress: 'ingress-pods', Egress: 'egress-pods' } as const
/** For packets of pods to themselves. */
const selfMapNames = { Ingress: 'ingress-self', Egress: 'egress-self' } as const
const selfChain = 'self-chain'

function changesOfSet(set: TableSet, before: ReadonlySet<string>, wanted: ReadonlySet<string>): Command[] {
  const removed = [...before].filter((element) => !wanted.has(element))
  const added = [...wanted].filter((element) => !before.has(element)).map((key) => ({ key }))
  return [
    ...(removed.length > 0 ? [deleteElements(set, removed)] : []),
    ...(added.length > 0 ? [addElements(set, added)] : []),
  ]
}
