/** The rules of a pod network in nftables: a table of its own, in which a host port is an element of a map. */
import type { HostPortRules, PodPorts, PodRulesOptions } from '../host-port-rules.ts'
import { runRulesProgram } from '../run-rules-program.ts'
import { portCommands, tableCommands } from './pod-table.ts'

export class NftRules implements HostPortRules {
  readonly #options: PodRulesOptions
  #isReady = false

  constructor(options: PodRulesOptions) {
    this.#options = options
  }

  async setUp(): Promise<void> {
    if (this.#isReady) return
    await nft(tableCommands(this.#options))
    this.#isReady = true
  }

  async open(pod: PodPorts): Promise<void> {
    await this.setUp()
    await nft(portCommands('add', this.#options.table, pod).join(''))
  }

  async close(pod: PodPorts): Promise<void> {
    const commands = portCommands('delete', this.#options.table, pod)
    const isClosed = await nft(commands.join('')).then(() => true, ignoreMissing)
    if (isClosed) return
    for (const command of commands) await nft(command).catch(ignoreMissing)
  }

  async remove(): Promise<void> {
    this.#isReady = false
    await nft(`delete table inet ${this.#options.table}\n`).catch(ignoreMissing)
  }
}

/** All commands take effect, or none. */
const nft = (commands: string): Promise<string> => runRulesProgram('nft', ['-f', '-'], commands)

/** Returns false for an error which says that a table or an element does not exist. */
function ignoreMissing(error: Error): false {
  if (!/No such file or directory|does not exist/.test(error.message)) throw error
  return false
}
