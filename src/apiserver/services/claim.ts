/** Addresses and ports reserved for one write until it ends; then they are stored, or free again. */
import type { AllocationMetrics } from './allocation-metrics.ts'
import { type AddressRange, canonicalAddress, type Family } from './ranges/address-range.ts'
import { findFreePort, type PortRange } from './ranges/port-range.ts'
import type { UsedValues } from './used-values.ts'

export interface ClaimOptions {
  /** The ranges of the server, then added ones. */
  readonly ranges: readonly AddressRange[]
  readonly nodePorts: PortRange
  readonly addresses: UsedValues<string>
  readonly ports: UsedValues<number>
  /** Node ports that are in use by the record in the store: another server may have just taken them. */
  readonly recordedPorts: ReadonlySet<number>
  /** True if an IPAddress exists. */
  readonly hasIpAddress: (address: string) => boolean
  readonly isDryRun: boolean
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
  readonly metrics: AllocationMetrics | undefined
}

export class Claim {
  readonly #options: ClaimOptions
  readonly #addresses: string[] = []
  readonly #ports: number[] = []

  constructor(options: ClaimOptions) {
    this.#options = options
  }

  /** Claims this address, or returns the reason why it cannot. */
  address(requested: string): string | undefined {
    const { ranges, isDryRun, metrics } = this.#options
    const address = canonicalAddress(requested)
    const range = ranges.find((range) => range.contains(address))
    // Upstream's dry run checks one range, a write searches all: the messages differ, and tools parse them.
    if (!range) return isDryRun ? notInRange(address, ranges) : 'the provided network does not match the current range'
    const isUsed = this.#isAddressUsed(address)
    metrics?.address(range.text, 'static', !isUsed, 0)
    if (isUsed) return 'provided IP is already allocated'
    this.#claimAddress(address)
    return undefined
  }

  /** Claims any free address; undefined if all are in use. */
  nextAddress(family: Family): string | undefined {
    const { ranges, random, metrics } = this.#options
    for (const range of ranges) {
      if (range.family !== family) continue
      const started = performance.now()
      const address = range.findFree((address) => this.#isAddressUsed(address), random)
      metrics?.address(range.text, 'dynamic', address !== undefined, (performance.now() - started) / 1000)
      if (address) return this.#claimAddress(address)
    }
    return undefined
  }

  /** Claims this node port, or returns the reason why it cannot. */
  port(requested: number): string | undefined {
    const { nodePorts, metrics } = this.#options
    if (requested < nodePorts.first || requested > nodePorts.last)
      return `provided port is not in the valid range. The range of valid ports is ${nodePorts.text}`
    const isUsed = this.#isPortUsed(requested)
    metrics?.port('static', !isUsed)
    if (isUsed) return 'provided port is already allocated'
    this.#claimPort(requested)
    return undefined
  }

  /** Claims any free node port; undefined if all are in use. */
  nextPort(): number | undefined {
    const { nodePorts, random, metrics } = this.#options
    const port = findFreePort(nodePorts, (port) => this.#isPortUsed(port), random)
    metrics?.port('dynamic', port !== undefined)
    return port && this.#claimPort(port)
  }

  end(): void {
    for (const address of this.#addresses) this.#options.addresses.release(address)
    for (const port of this.#ports) this.#options.ports.release(port)
  }

  #isAddressUsed(address: string): boolean {
    return this.#options.addresses.isUsed(address) || this.#options.hasIpAddress(address)
  }

  #isPortUsed(port: number): boolean {
    const { ports, recordedPorts } = this.#options
    return ports.isUsed(port) || recordedPorts.has(port)
  }

  #claimAddress(address: string): string {
    this.#options.addresses.claim(address)
    this.#addresses.push(address)
    return address
  }

  #claimPort(port: number): number {
    this.#options.ports.claim(port)
    this.#ports.push(port)
    return port
  }
}

function notInRange(address: string, ranges: readonly AddressRange[]): string {
  const range = ranges.find(({ family }) => (family === 'IPv6') === address.includes(':')) ?? ranges[0]
  return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range?.text}`
}
