/** Writes the rules of a node's network, removes those of the other program, and restores what others removed. */
import { messageOf } from '../../../lib/message-of.ts'
import type { RunProgram } from '../../iptables/iptables-programs.ts'
import type { NetworkConfig } from '../config/network-config.ts'
import type { Lease } from '../subnets/subnet-manager.ts'
import { IptablesTraffic } from './iptables-traffic.ts'
import { NftablesTraffic } from './nftables-traffic.ts'
import type { TrafficRules, TrafficRulesOptions } from './traffic-rules.ts'

export interface TrafficKeeperOptions extends Pick<TrafficRulesOptions, 'masquerade' | 'forward' | 'randomFully'> {
  readonly config: NetworkConfig
  readonly lease: Lease
  /** The time between two checks of the rules, in ms. */
  readonly resyncMs: number
  readonly run: RunProgram
  readonly log: (line: string) => void
}

export class TrafficKeeper {
  readonly #options: TrafficKeeperOptions
  readonly #rules: readonly TrafficRules[]
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #isStopped = false
  #problem: string | undefined

  constructor(options: TrafficKeeperOptions) {
    this.#options = options
    const create = options.config.enableNFTables ? NftablesTraffic : IptablesTraffic
    this.#rules = familiesOf(options).map((family) => new create(options.run, family))
  }

  /** Rejects with the reason if the rules cannot be written. Restores them from then on. */
  async start(): Promise<void> {
    const { config, run, log } = this.#options
    const other = config.enableNFTables ? IptablesTraffic : NftablesTraffic
    // A machine without the other program has no rules of it.
    for (const family of familiesOf(this.#options))
      await new other(run, family).remove().catch((error) => log(`rules of an earlier flannel: ${messageOf(error)}`))
    for (const rules of this.#rules) await rules.ensure()
    this.#schedule()
  }

  /** The rules remain. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #schedule(): void {
    if (this.#isStopped || this.#rules.length === 0) return
    this.#timer = setTimeout(() => {
      this.#running = this.#resync().then(() => this.#schedule())
    }, this.#options.resyncMs)
  }

  async #resync(): Promise<void> {
    const { log } = this.#options
    try {
      for (const rules of this.#rules)
        if (await rules.ensure()) log('Some traffic rules were missing or different; they are written again')
      this.#problem = undefined
    } catch (error) {
      const problem = messageOf(error)
      if (problem !== this.#problem) log(`Failed to ensure the traffic rules: ${problem}`)
      this.#problem = problem
    }
  }
}

function familiesOf({ config, lease, masquerade, forward, randomFully }: TrafficKeeperOptions): TrafficRulesOptions[] {
  const pairs = [
    [4, config.network, lease.subnet],
    [6, config.ipv6Network, lease.ipv6Subnet],
  ] as const
  return pairs.flatMap(([family, network, subnet]) =>
    network !== undefined && subnet !== undefined && (masquerade || forward)
      ? [{ family, network, subnet, masquerade, forward, randomFully }]
      : [],
  )
}
