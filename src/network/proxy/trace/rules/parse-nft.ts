/** Reads the JSON of `nft -j list ruleset`: all tables of one IP family, or of both (`inet`). */

import { actionOf, type NftSets, setElements } from './nft-actions.ts'
import { conditionOf } from './nft-conditions.ts'
import { isRecord, type Json, recordOf, stringOf } from './nft-json.ts'
import type { Action, Chain, Condition, Hook, Rule, Ruleset } from './ruleset.ts'

const hooks: readonly string[] = ['prerouting', 'input', 'forward', 'output', 'postrouting'] satisfies Hook[]

const ofIptables = new Set(['raw', 'mangle', 'nat', 'filter', 'security'])

/** True for tables that the nft variant of iptables owns; `iptables-save` prints them. */
export const isOfIptables = (family: string, table: string): boolean => family !== 'inet' && ofIptables.has(table)

/** @throws a SyntaxError if the text is no JSON */
export function parseNft(text: string, family: 4 | 6): Ruleset[] {
  const document = recordOf(JSON.parse(text))
  const items = Array.isArray(document?.nftables) ? (document.nftables as readonly Json[]) : []
  const wanted = new Set([family === 4 ? 'ip' : 'ip6', 'inet'])
  const tables = new Map<string, NftTable>()
  for (const item of items) {
    const [kind, content] = Object.entries(recordOf(item) ?? {})[0] ?? []
    const object = recordOf(content)
    if (!kind || !object) continue
    const name = kind === 'table' ? stringOf(object.name) : stringOf(object.table)
    const inFamily = stringOf(object.family)
    if (!wanted.has(inFamily) || isOfIptables(inFamily, name)) continue
    const key = `${inFamily} ${name}`
    const table = tables.get(key) ?? new NftTable(`nftables ${key}`)
    tables.set(key, table)
    table.read(kind, object)
  }
  return [...tables.values()].map((table) => table.ruleset())
}

class NftTable {
  readonly #name: string
  readonly #chains = new Map<string, Readonly<Record<string, Json>>>()
  readonly #rules = new Map<string, Readonly<Record<string, Json>>[]>()
  readonly #sets = new Map<string, Readonly<Record<string, Json>>>()

  constructor(name: string) {
    this.#name = name
  }

  read(kind: string, object: Readonly<Record<string, Json>>): void {
    const name = stringOf(object.name)
    if (kind === 'chain') this.#chains.set(name, object)
    else if (kind === 'set' || kind === 'map') this.#sets.set(name, object)
    else if (kind === 'rule') {
      const chain = stringOf(object.chain)
      const rules = this.#rules.get(chain)
      if (rules) rules.push(object)
      else this.#rules.set(chain, [object])
    }
  }

  ruleset(): Ruleset {
    const sets: NftSets = { of: (name) => setElements(this.#sets.get(name)) }
    return {
      name: this.#name,
      chains: new Map([...this.#chains].map(([name, chain]) => [name, this.#chain(name, chain, sets)])),
    }
  }

  #chain(name: string, chain: Readonly<Record<string, Json>>, sets: NftSets): Chain {
    const objects = this.#rules.get(name) ?? []
    let rules: readonly Rule[] | undefined
    return {
      name,
      hook: hookOf(chain),
      get rules() {
        rules ??= objects.map((rule) => ruleOf(rule, sets))
        return rules
      },
    }
  }
}

function hookOf({ hook, prio, policy }: Readonly<Record<string, Json>>): Chain['hook'] {
  const name = hooks.find((known) => known === hook) as Hook | undefined
  return name && { name, priority: Number(prio), isDroppedAtEnd: policy === 'drop' }
}

function ruleOf({ expr, comment }: Readonly<Record<string, Json>>, sets: NftSets): Rule {
  const conditions: Condition[] = []
  const actions: Action[] = []
  let packets: number | undefined
  for (const statement of Array.isArray(expr) ? (expr as readonly Json[]) : []) {
    const object = recordOf(statement)
    if (!object) continue
    if (isRecord(object.match)) conditions.push(conditionOf(object.match, sets))
    else if (isRecord(object.counter)) packets = Number(object.counter.packets)
    else {
      const action = actionOf(object, sets)
      if (action) actions.push(action)
    }
  }
  return {
    text: JSON.stringify(expr),
    conditions,
    actions,
    packets,
    comment: typeof comment === 'string' ? comment : undefined,
  }
}
