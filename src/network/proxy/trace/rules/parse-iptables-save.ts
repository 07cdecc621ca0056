/** Reads the output of `iptables-save -c`, of all versions and both variants. */
import { RuleReader } from './iptables-rule.ts'
import type { Chain, Hook, Rule, Ruleset } from './ruleset.ts'

const hookNames: ReadonlyMap<string, Hook> = new Map([
  ['PREROUTING', 'prerouting'],
  ['INPUT', 'input'],
  ['FORWARD', 'forward'],
  ['OUTPUT', 'output'],
  ['POSTROUTING', 'postrouting'],
])

/** The kernel's priorities of tables. */
const priorities: ReadonlyMap<string, number> = new Map([
  ['raw', -300],
  ['mangle', -150],
  ['nat', -100],
  ['filter', 0],
  ['security', 50],
])
const sourceNatPriority = 100

/** @param name the program, which begins the names of tables */
export function parseIptablesSave(text: string, name: string): Ruleset[] {
  const rulesets: Ruleset[] = []
  let table: TableReader | undefined
  for (const line of text.split('\n'))
    if (line.startsWith('*')) table = new TableReader(line.slice(1))
    else if (line === 'COMMIT' && table) {
      rulesets.push({ name: `${name} ${table.name}`, chains: table.chains() })
      table = undefined
    } else if (line !== '' && !line.startsWith('#')) table?.read(line)
  return rulesets
}

class TableReader {
  readonly name: string
  readonly #policies = new Map<string, string>()
  /** Lines of rules by chain. */
  readonly #rules = new Map<string, string[]>()

  constructor(name: string) {
    this.name = name
  }

  read(line: string): void {
    if (line.startsWith(':')) {
      const [chain = '', policy = ''] = line.slice(1).split(' ')
      this.#policies.set(chain, policy)
      return
    }
    const chain = /^(?:\[\d+:\d+\] )?-A (\S+)/.exec(line)?.[1]
    if (chain === undefined) return
    const rules = this.#rules.get(chain)
    if (rules) rules.push(line)
    else this.#rules.set(chain, [line])
  }

  chains(): Map<string, Chain> {
    return new Map([...this.#policies].map(([name, policy]) => [name, this.#chain(name, policy)]))
  }

  #chain(name: string, policy: string): Chain {
    const lines = this.#rules.get(name) ?? []
    let rules: readonly Rule[] | undefined
    const isChain = (target: string): boolean => this.#policies.has(target)
    return {
      name,
      hook: this.#hook(name, policy),
      // Of many Services, a trace reads the chains of one.
      get rules() {
        rules ??= lines.map((line) => new RuleReader(line, isChain).read())
        return rules
      },
    }
  }

  #hook(name: string, policy: string): Chain['hook'] {
    const hook = hookNames.get(name)
    if (hook === undefined) return undefined
    const isSourceNat = this.name === 'nat' && (hook === 'postrouting' || hook === 'input')
    const priority = isSourceNat ? sourceNatPriority : (priorities.get(this.name) ?? 0)
    return { name: hook, priority, isDroppedAtEnd: policy === 'DROP' }
  }
}
