/** Opens and closes the host ports of pods in the nftables table of the pod network. */
import type { HostPort } from '../attachment.ts'
import { nft } from './nft.ts'
import { type PodPorts, type PodTableOptions, portCommands, tableCommands } from './pod-table.ts'

export class HostPortRules {
  readonly #options: PodTableOptions
  #isReady = false

  constructor(options: PodTableOptions) {
    this.#options = options
  }

  /** Creates the table. It is done once for a process: programs do not remove the tables of others. */
  async setUp(): Promise<void> {
    if (this.#isReady) return
    await nft(tableCommands(this.#options))
    this.#isReady = true
  }

  async open(pod: PodPorts): Promise<void> {
    await this.setUp()
    await nft(portCommands('add', this.#options.table, pod).join(''))
  }

  /** Succeeds if ports, or the whole table, are gone: an administrator flushed the rules, or the host restarted. */
  async close(pod: PodPorts): Promise<void> {
    const commands = portCommands('delete', this.#options.table, pod)
    const isGone = await nft(commands.join('')).then(() => true, ignoreMissing)
    if (isGone) return
    for (const command of commands) await nft(command).catch(ignoreMissing)
  }
}

/** Returns false for an error which says that a table or an element does not exist. */
function ignoreMissing(error: Error): false {
  if (!/No such file or directory|does not exist/.test(error.message)) throw error
  return false
}

/**
 * Returns the first of `ports` that another pod has.
 * @example takenPort([{ hostPort: 80, containerPort: 8080, protocol: 'tcp' }], portsOfOtherPods)
 */
export function takenPort(ports: readonly HostPort[], others: readonly HostPort[]): HostPort | undefined {
  return ports.find((port) => others.some((other) => isSame(port, other)))
}

const isAny = (address = ''): boolean => address === '' || address === '0.0.0.0' || address === '::'

const isSame = (one: HostPort, other: HostPort): boolean =>
  one.hostPort === other.hostPort &&
  one.protocol === other.protocol &&
  (isAny(one.hostIP) || isAny(other.hostIP) || one.hostIP === other.hostIP)
