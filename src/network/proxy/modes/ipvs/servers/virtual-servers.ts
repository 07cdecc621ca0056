/** Brings virtual services and their servers into effect. Servers that leave keep their connections until these end. */
import { SystemCallError } from '../../../../../lib/linux/c-library.ts'
import type { Ipvs } from '../../../../netlink/ipvs/ipvs-socket.ts'
import {
  addressText,
  type FoundServer,
  type ServiceAddress,
  serviceText,
  type VirtualService,
} from '../../../../netlink/ipvs/virtual-service.ts'
import type { WantedService } from '../wanted/service-objects.ts'

/** Calls back after a time in ms; the result cancels. */
export type Schedule = (callback: () => void, ms: number) => () => void

export interface VirtualServersOptions {
  /** Calls a function with IPVS of this machine. */
  readonly withIpvs: <Result>(use: (ipvs: Ipvs) => Result) => Result
  readonly schedule: Schedule
  readonly log: (line: string) => void
}

/** Upstream's interval of checks for servers without connections, in ms. */
const leaveCheckMs = 60_000

export class VirtualServers {
  readonly #options: VirtualServersOptions
  /** Services with servers that leave, by `serviceText`. */
  readonly #leaving = new Map<string, { readonly service: ServiceAddress; readonly servers: Set<string> }>()
  #cancelCheck: (() => void) | undefined

  constructor(options: VirtualServersOptions) {
    this.#options = options
  }

  /** Changes some services. @throws with the first change that the kernel rejects */
  change(services: readonly WantedService[], removed: readonly ServiceAddress[]): void {
    if (services.length + removed.length === 0) return
    this.#options.withIpvs((ipvs) => {
      for (const service of services) this.#apply(ipvs, service, ipvs.service(service))
      for (const service of removed) this.#remove(ipvs, service)
    })
    this.#plan()
  }

  /** Brings all into effect. Other services that `isOwn` accepts are removed. */
  replaceAll(services: ReadonlyMap<string, WantedService>, isOwn: (service: VirtualService) => boolean): void {
    this.#options.withIpvs((ipvs) => {
      const found = new Map(ipvs.services().map((service) => [serviceText(service), service]))
      for (const [text, service] of services) this.#apply(ipvs, service, found.get(text))
      for (const [text, service] of found) if (!services.has(text) && isOwn(service)) this.#remove(ipvs, service)
    })
    this.#plan()
  }

  /** Stops the checks. Servers without new connections remain; the next process removes them. */
  stop(): void {
    this.#cancelCheck?.()
    this.#cancelCheck = undefined
  }

  #apply(ipvs: Ipvs, wanted: WantedService, found: VirtualService | undefined): void {
    if (!found) withSchedulerHint(wanted, () => ipvs.addService(wanted))
    else if (!isSame(found, wanted)) withSchedulerHint(wanted, () => ipvs.changeService(wanted))
    const servers = new Map((found ? ipvs.servers(wanted) : []).map((server) => [addressText(server), server]))
    const leaving = this.#leaving.get(serviceText(wanted))?.servers
    for (const endpoint of wanted.endpoints) {
      const text = addressText(endpoint)
      const server = servers.get(text)
      servers.delete(text)
      leaving?.delete(text)
      const { address, port } = endpoint
      if (!server) ipvs.addServer(wanted, { address, port, weight: 1 })
      else if (server.weight !== 1) ipvs.changeServer(wanted, { address, port, weight: 1 })
    }
    for (const server of servers.values()) this.#leave(ipvs, wanted, server)
  }

  #remove(ipvs: Ipvs, service: ServiceAddress): void {
    ipvs.removeService(service)
    this.#leaving.delete(serviceText(service))
  }

  /** UDP has no end: its flows go to other servers. */
  #leave(ipvs: Ipvs, service: ServiceAddress, server: FoundServer): void {
    const text = serviceText(service)
    const { servers } = this.#leaving.get(text) ?? { servers: new Set<string>() }
    if (service.protocol === 'UDP' || server.connections === 0) {
      ipvs.removeServer(service, server)
      servers.delete(addressText(server))
      return
    }
    if (server.weight !== 0) ipvs.changeServer(service, { ...server, weight: 0 })
    this.#leaving.set(text, { service, servers: servers.add(addressText(server)) })
  }

  #plan(): void {
    for (const [text, { servers }] of this.#leaving) if (servers.size === 0) this.#leaving.delete(text)
    if (this.#leaving.size === 0 || this.#cancelCheck) return
    this.#cancelCheck = this.#options.schedule(() => {
      this.#cancelCheck = undefined
      this.#check()
    }, leaveCheckMs)
  }

  #check(): void {
    try {
      this.#options.withIpvs((ipvs) => {
        for (const { service, servers } of this.#leaving.values()) {
          const found = new Map(ipvs.servers(service).map((server) => [addressText(server), server]))
          for (const text of servers) {
            const server = found.get(text)
            if (server) this.#leave(ipvs, service, server)
            else servers.delete(text)
          }
        }
      })
    } catch (error) {
      this.#options.log(`servers of Services that end remain for another minute: ${String(error)}`)
    }
    this.#plan()
  }
}

const isSame = (found: VirtualService, wanted: VirtualService): boolean =>
  found.scheduler === wanted.scheduler &&
  found.persistenceSeconds === wanted.persistenceSeconds &&
  found.hashesPorts === wanted.hashesPorts

function withSchedulerHint({ scheduler }: VirtualService, change: () => void): void {
  try {
    change()
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.code !== 'ENOENT') throw error
    throw new Error(
      `the kernel has no IPVS scheduler ${scheduler}: load it by \`modprobe ip_vs_${scheduler}\`, or choose another ` +
        'one with --ipvs-scheduler, such as rr',
      { cause: error },
    )
  }
}
