/** The ports of the proxy: those for HTTP and HTTPS, and those of other listeners of Gateways, which come and go. */
import type { KeyPair } from '../../lib/x509/key-pair.ts'
import type { Route } from './picture/route.ts'
import { RouteTable } from './picture/route-table.ts'
import { openPort, type WantedPort } from './ports.ts'
import { Certificates } from './proxy/certificates.ts'
import type { ProxyLimits } from './proxy/limits.ts'
import { PortServer } from './proxy/port-server.ts'
import type { ReverseProxy } from './proxy/reverse-proxy.ts'

/** The rules and certificates of a port. */
export interface PortPicture {
  readonly routes: readonly Route[]
  /** Gets requests without a route. */
  readonly fallback?: Route
  /** Patterns of hosts that have no routes but belong to a listener. */
  readonly hosts?: readonly string[]
  /** By pattern of host. For ports with TLS. */
  readonly certificates: ReadonlyMap<string, KeyPair>
}

/** The usual ports, which objects name whatever ports the proxy really has. */
export const usualHttpPort = 80
export const usualHttpsPort = 443

export interface ServedPortsOptions {
  readonly proxy: ReverseProxy
  readonly limits: ProxyLimits
  readonly address: string
  readonly httpPort?: number
  readonly httpsPort?: number
  /** The certificate for hosts without one. */
  readonly fallback: KeyPair
  /** Called after a port could not be opened. */
  readonly failed: () => void
  readonly log: (line: string) => void
}

interface Served {
  readonly isSecure: boolean
  readonly server: PortServer
  readonly certificates: Certificates
  table: RouteTable
}

const noRoutes = new RouteTable([], undefined)

export class ServedPorts {
  readonly #options: ServedPortsOptions
  /** By the port in objects. */
  readonly #ports = new Map<number, Served>()
  /** Why ports are not open: sentences. */
  readonly #faults = new Map<number, string>()
  #httpPort = 0
  #httpsPort = 0

  constructor(options: ServedPortsOptions) {
    this.#options = options
  }

  /** The real ports. */
  get httpPort(): number {
    return this.#httpPort
  }

  get httpsPort(): number {
    return this.#httpsPort
  }

  /** Opens the ports for HTTP and HTTPS. Rejects with an ExplainedError. */
  async open(): Promise<void> {
    const { httpPort, httpsPort } = this.#options
    const http: WantedPort = { flag: '--ingress-http-port', port: httpPort, usual: [usualHttpPort, 8080] }
    const https: WantedPort = { flag: '--ingress-https-port', port: httpsPort, usual: [usualHttpsPort, 8443] }
    this.#httpPort = await this.#openUsual(usualHttpPort, http)
    this.#httpsPort = await this.#openUsual(usualHttpsPort, https)
  }

  /** Returns why a port of an object cannot serve the protocol; undefined if it can. */
  fault(port: number, isSecure: boolean): string | undefined {
    if (port === (isSecure ? usualHttpPort : usualHttpsPort))
      return `port ${port} has protocol ${isSecure ? 'HTTP' : 'HTTPS'}: use another port`
    return this.#faults.get(port)
  }

  /**
   * Serves these ports, by the port in objects, and closes all others except for the usual ones. A port that could not
   * be opened is tried again after no object has named it.
   */
  apply(
    pictures: ReadonlyMap<number, PortPicture & { readonly isSecure: boolean }>,
    named: ReadonlySet<number> = new Set(),
  ): void {
    for (const port of this.#faults.keys()) if (!named.has(port)) this.#faults.delete(port)
    for (const [port, served] of this.#ports) {
      const picture = pictures.get(port)
      if (picture && picture.isSecure === served.isSecure) {
        setPicture(served, picture)
      } else if (port === usualHttpPort || port === usualHttpsPort) {
        served.table = noRoutes
      } else {
        this.#ports.delete(port)
        void served.server.close(0)
      }
    }
    for (const [port, picture] of pictures)
      if (!this.#ports.has(port)) {
        const served = this.#create(picture.isSecure)
        setPicture(served, picture)
        this.#ports.set(port, served)
        served.server.listen(this.#options.address, port).catch((error: Error) => this.#fail(port, error))
      }
  }

  /** Accepts no more connections, lets requests finish, and closes the rest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#ports.values()].map(({ server }) => server.close(graceMs)))
  }

  #fail(port: number, { message }: Error): void {
    const fault = `port ${port} is not available (${message}): choose another one`
    this.#faults.set(port, fault)
    this.#options.log(`ingress: ${fault}`)
    this.#options.failed()
  }

  async #openUsual(port: number, wanted: WantedPort): Promise<number> {
    const served = this.#create(port === usualHttpsPort)
    this.#ports.set(port, served)
    return openPort(served.server, this.#options.address, wanted, this.#options.log)
  }

  #create(isSecure: boolean): Served {
    const { proxy, limits, fallback } = this.#options
    const certificates = new Certificates(fallback)
    const served: Served = {
      isSecure,
      certificates,
      table: noRoutes,
      server: new PortServer({
        proxy,
        limits,
        ...(isSecure && { certificates }),
        table: () => served.table,
      }),
    }
    return served
  }
}

function setPicture(served: Served, { routes, fallback, hosts, certificates }: PortPicture): void {
  served.table = new RouteTable(routes, fallback, hosts)
  served.certificates.set(certificates)
}
