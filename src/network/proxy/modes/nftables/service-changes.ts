/** Compares what Services have in the table with what they should have; the changes become one transaction. */
import {
  addChain,
  addRule,
  addSet,
  type Command,
  deleteSet,
  flushChain,
  type Rule,
  ruleText,
  type TableSet,
} from '../../../netlink/nftables/commands.ts'
import type { DataType } from '../../../netlink/nftables/values.ts'
import type { SetElement } from './port-elements.ts'
import type { ServiceObjects } from './service-objects.ts'
import { ElementChanges, type SetContents } from './set-contents.ts'

/** The objects of a Service in the table. */
export interface AppliedService {
  /** The text of the rules by chain. */
  readonly chains: ReadonlyMap<string, string>
  readonly affinitySets: ReadonlyMap<string, number>
  readonly elements: readonly SetElement[]
}

const nothing: AppliedService = { chains: new Map(), affinitySets: new Map(), elements: [] }

export class ServiceChanges {
  readonly #keyType: DataType
  readonly #contents: SetContents
  readonly #newChains: string[] = []
  readonly #flushed: string[] = []
  readonly #removedChains: string[] = []
  readonly #deletedSets: string[] = []
  readonly #newSets: TableSet[] = []
  readonly #rules: (readonly [chain: string, rules: readonly Rule[]])[] = []
  readonly #elements = new ElementChanges()

  /** `keyType` is the type of clients' addresses. */
  constructor(keyType: DataType, contents: SetContents) {
    this.#keyType = keyType
    this.#contents = contents
  }

  /** Chains without rules and references; kernels before 6.2 can delete them only some time after the transaction. */
  get removedChains(): readonly string[] {
    return this.#removedChains
  }

  /** Returns what the Service has after the transaction. */
  update(service: string, old: AppliedService | undefined, wanted: ServiceObjects): AppliedService {
    const before = old ?? nothing
    const hasNewTimeout = this.#changeSets(before.affinitySets, wanted.affinitySets)
    const chains = new Map<string, string>()
    for (const [chain, rules] of wanted.chains) {
      const text = rules.map(ruleText).join('\n')
      chains.set(chain, text)
      const known = before.chains.get(chain)
      // A set can be replaced only while no rule refers to it.
      if (known === text && !hasNewTimeout) continue
      if (known === undefined) this.#newChains.push(chain)
      else this.#flushed.push(chain)
      this.#rules.push([chain, rules])
    }
    for (const chain of before.chains.keys())
      if (!chains.has(chain)) {
        this.#flushed.push(chain)
        this.#removedChains.push(chain)
      }
    this.#elements.merge(this.#contents.replace(service, before.elements, wanted.elements))
    return { chains, affinitySets: wanted.affinitySets, elements: wanted.elements }
  }

  /** Returns true if an existing set gets another time. */
  #changeSets(old: ReadonlyMap<string, number>, wanted: ReadonlyMap<string, number>): boolean {
    let hasNewTimeout = false
    for (const [name, seconds] of wanted) {
      const known = old.get(name)
      if (known === seconds) continue
      if (known !== undefined) {
        this.#deletedSets.push(name)
        hasNewTimeout = true
      }
      this.#newSets.push({ name, keyTypes: [this.#keyType], timeoutSeconds: seconds })
    }
    for (const name of old.keys()) if (!wanted.has(name)) this.#deletedSets.push(name)
    return hasNewTimeout
  }

  /** All chains exist before something refers to them; nothing refers to what is deleted. */
  commands(): Command[] {
    return [
      ...this.#newChains.map((chain) => addChain(chain)),
      // A chain of this name may be left from before.
      ...[...this.#newChains, ...this.#flushed].map(flushChain),
      ...this.#deletedSets.map(deleteSet),
      ...this.#newSets.map(addSet),
      ...this.#rules.flatMap(([chain, rules]) => rules.map((rule) => addRule(chain, rule))),
      ...this.#elements.commands(),
    ]
  }
}
