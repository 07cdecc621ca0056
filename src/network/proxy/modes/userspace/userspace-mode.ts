/**
 * The mode userspace of kube-proxy: a forwarder of this process listens on the addresses of Services. Routes make them
 * local to this machine; without the right to add routes, only addresses that the machine has are served.
 */
import { networkInterfaces } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { parseCidr, rangeHas } from '../../../../lib/cidr.ts'
import { systemCalls } from '../../../../lib/linux/system-calls.ts'
import { Forwarder } from '../../../forwarder/forwarder.ts'
import { type Listener, type ListenerFailure, listenerKey } from '../../../forwarder/listener.ts'
import type { ProxiedPort, ServicePicture } from '../../picture/service-picture.ts'
import type { ModeOptions } from '../mode-options.ts'
import type { ChangedServices, ProxyMode } from '../proxy-mode.ts'
import { HeldAddresses } from './held-addresses.ts'
import { insideRanges } from './inside-ranges.ts'
import { type ListenerPlace, portListeners } from './port-listeners.ts'

/** @example await createUserspaceMode(options).sync(picture, 'all') */
export const createUserspaceMode = (options: ModeOptions): ProxyMode => new UserspaceMode(options)

/** A listener and the Service that has it: of two with one address, the first one. */
interface Owned {
  readonly service: string
  readonly listener: Listener
}

class UserspaceMode implements ProxyMode {
  readonly #options: ModeOptions
  readonly #held: HeldAddresses
  #forwarder: Forwarder | undefined
  #place: ListenerPlace | undefined
  readonly #opened = new Map<string, Owned>()
  /** All addresses of Services but those of node ports. */
  readonly #addresses = new Map<string, readonly string[]>()
  readonly #failures = new Set<string>()
  readonly #noted = new Set<string>()

  constructor(options: ModeOptions) {
    this.#options = options
    this.#held = new HeldAddresses(systemCalls(), options.family)
  }

  async sync(picture: ServicePicture, changed: ChangedServices): Promise<void> {
    const isFull = changed === 'all'
    if (isFull || !this.#place) {
      this.#place = this.#findPlace()
      this.#failures.clear()
    }
    const services = isFull ? [...picture.keys()] : [...changed]
    if (isFull) this.#addresses.clear()
    for (const service of services) this.#addresses.set(service, addressesOf(picture.get(service) ?? []))
    const ranges = this.#neededRanges()
    this.#holdAddresses(ranges)
    const wanted = this.#wantedListeners(picture, services)
    await this.#open(wanted, (service) => isFull || changed.has(service))
    if (isFull || !this.#held.hasOnly(ranges)) this.#held.retain(ranges)
  }

  /** Ports that another process has are tried again, too. */
  async wasFlushed(): Promise<boolean> {
    return this.#failures.size > 0 || this.#held.isIncomplete()
  }

  /** Ends all connections. Addresses remain local, so that the kernel refuses others until the next start. */
  async stop(): Promise<void> {
    await this.#forwarder?.stop()
    this.#forwarder = undefined
    this.#opened.clear()
    this.#place = undefined
  }

  async cleanUp(): Promise<void> {
    await this.stop()
    this.#held.retain([])
  }

  #findPlace(): ListenerPlace {
    const { family, nodeAddress, nodePortAddresses, localTraffic } = this.#options
    const own = new Set(Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address)))
    const loopback = family === 4 ? '127.0.0.1' : '::1'
    return {
      nodeAddress,
      // On loopback, they also work without any right.
      nodePortAddresses: [...new Set([...nodePortAddresses().addresses, loopback])],
      insideRanges: insideRanges(systemCalls(), localTraffic).filter((range) => parseCidr(range)?.family === family),
      isOwn: (address) => own.has(address) || rangeHas('127.0.0.0/8', address),
    }
  }

  #isLocal = (address: string): boolean => this.#place!.isOwn(address) || this.#held.has(address)

  #wantedListeners(picture: ServicePicture, services: Iterable<string>): Owned[] {
    const found: Owned[] = []
    for (const service of services)
      for (const port of picture.get(service) ?? []) {
        if (port.protocol === 'SCTP')
          this.#note(`${service} SCTP`, `the port ${port.port} of ${service} does not work: userspace has no SCTP`)
        for (const listener of portListeners(port, this.#place!))
          if (this.#isLocal(listener.address)) found.push({ service, listener })
      }
    return found
  }

  /** The ranges of Services, and other addresses that no interface has: also of Services without endpoints. */
  #neededRanges(): string[] {
    const { family, serviceCidrs } = this.#options
    const { isOwn } = this.#place!
    const ranges = serviceCidrs?.() ?? []
    const found = new Set(ranges)
    for (const addresses of this.#addresses.values())
      for (const address of addresses)
        if (!isOwn(address) && !ranges.some((range) => rangeHas(range, address)))
          found.add(`${address}/${family === 4 ? 32 : 128}`)
    return [...found]
  }

  #holdAddresses(ranges: readonly string[]): void {
    const { nodeAddress } = this.#options
    const source = this.#place!.isOwn(nodeAddress) ? nodeAddress : undefined
    if (this.#held.hold(ranges, source)) return
    this.#note(
      'no right',
      'only node ports and addresses of this machine work, as this process may not add routes for cluster IPs: ' +
        'run it with CAP_NET_ADMIN',
    )
  }

  /** @param isChanged true for Services that `wanted` has all listeners of */
  async #open(wanted: readonly Owned[], isChanged: (service: string) => boolean): Promise<void> {
    const claims = new Map<string, Set<string>>()
    for (const { service, listener } of wanted) {
      const key = listenerKey(listener)
      claims.set(key, (claims.get(key) ?? new Set()).add(service))
    }
    const removed: string[] = []
    for (const [key, { service }] of this.#opened)
      if (isChanged(service) && !claims.get(key)?.has(service)) removed.push(key)
    for (const key of removed) this.#opened.delete(key)
    const set = wanted.filter((owned) => this.#claim(owned))
    if (set.length === 0 && removed.length === 0) return
    this.#forwarder ??= new Forwarder()
    const listeners = set.map(({ listener }) => listener)
    for (const failure of await this.#forwarder.set(listeners, removed)) this.#noteFailure(failure)
  }

  /** Returns true if the listener is new or has changed. */
  #claim(owned: Owned): boolean {
    const key = listenerKey(owned.listener)
    const known = this.#opened.get(key)
    if (known && known.service !== owned.service) {
      this.#failures.add(key)
      this.#note(`${key} ${owned.service}`, `${owned.service} does not get ${key}, which ${known.service} has`)
      return false
    }
    this.#opened.set(key, owned)
    return !known || !isDeepStrictEqual(known.listener, owned.listener)
  }

  #noteFailure({ key, code }: ListenerFailure): void {
    const service = this.#opened.get(key)?.service
    this.#opened.delete(key)
    this.#failures.add(key)
    this.#note(`${key} ${code}`, `${service} does not work at ${key}: ${reasons[code] ?? code}`)
  }

  /** Logs a text once. */
  #note(key: string, text: string): void {
    if (this.#noted.has(key)) return
    this.#noted.add(key)
    this.#options.log(`kube-proxy: ${text}`)
  }
}

const addressesOf = (ports: readonly ProxiedPort[]): string[] => [
  ...new Set(
    ports.flatMap(({ clusterIP, externalIPs, loadBalancerIPs }) => [clusterIP, ...externalIPs, ...loadBalancerIPs]),
  ),
]

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process has the port',
  EACCES: 'ports below 1024 need CAP_NET_BIND_SERVICE, or a lower net.ipv4.ip_unprivileged_port_start',
  EMFILE: 'this process may not open more files (ulimit -n)',
}
