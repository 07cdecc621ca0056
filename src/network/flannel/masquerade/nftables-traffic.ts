/** The rules in nftables, with upstream's tables `flannel-ipv4` and `flannel-ipv6`, through the program nft. */
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import { multicast, proxyMark, type TrafficRules, type TrafficRulesOptions } from './traffic-rules.ts'

export class NftablesTraffic implements TrafficRules {
  readonly #run: RunProgram
  readonly #options: TrafficRulesOptions
  /** The table as nft printed it after the last write. */
  #written: string | undefined

  constructor(run: RunProgram, options: TrafficRulesOptions) {
    this.#run = run
    this.#options = options
  }

  async ensure(): Promise<boolean> {
    if (this.#written !== undefined && (await this.#present()) === this.#written) return false
    await this.#run('nft', ['-f', '-'], tableText(this.#options))
    this.#written = await this.#present()
    return true
  }

  async remove(): Promise<void> {
    this.#written = undefined
    if ((await this.#present()) === undefined) return
    const [family, table] = tableOf(this.#options.family)
    await this.#run('nft', ['delete', 'table', family, table])
  }

  /** The table without counters of nft's own; undefined if it does not exist. */
  #present(): Promise<string | undefined> {
    const [family, table] = tableOf(this.#options.family)
    return this.#run('nft', ['list', 'table', family, table]).catch((error: Error) => {
      if (/No such file or directory/.test(error.message)) return undefined
      throw error
    })
  }
}

const tableOf = (family: 4 | 6): readonly [string, string] =>
  family === 4 ? ['ip', 'flannel-ipv4'] : ['ip6', 'flannel-ipv6']

/** One transaction: nobody sees the table without its rules. */
export function tableText(options: TrafficRulesOptions): string {
  const [family, table] = tableOf(options.family)
  const lines = [`add table ${family} ${table} { comment "rules for ${table}" ; }`, `flush table ${family} ${table}`]
  const chain = (name: string, type: string, hook: string, rules: readonly string[]): void => {
    lines.push(`add chain ${family} ${table} ${name} { type ${type} hook ${hook} ; }`)
    for (const rule of rules) lines.push(`add rule ${family} ${table} ${name} ${rule}`)
  }
  if (options.forward) chain('forward', 'filter', 'forward priority 0', forwardRules(options, family))
  if (options.masquerade) chain('postrtg', 'nat', 'postrouting priority 100', masqueradeRules(options, family))
  return `${lines.join('\n')}\n`
}

const forwardRules = ({ network }: TrafficRulesOptions, ip: string): string[] => [
  `${ip} saddr ${network} accept`,
  `${ip} daddr ${network} accept`,
]

/** Those of iptables, in the same order. */
function masqueradeRules({ family, network, subnet, randomFully }: TrafficRulesOptions, ip: string): string[] {
  const masquerade = `masquerade${randomFully ? ' fully-random' : ''}`
  return [
    `meta mark & ${proxyMark} == ${proxyMark} return`,
    `${ip} saddr ${subnet} ${ip} daddr ${network} return`,
    `${ip} saddr ${network} ${ip} daddr ${subnet} return`,
    `${ip} saddr != ${network} ${ip} daddr ${subnet} return`,
    `${ip} saddr ${network} ${ip} daddr != ${multicast[family]} ${masquerade}`,
    `${ip} saddr != ${network} ${ip} daddr ${network} ${masquerade}`,
  ]
}
