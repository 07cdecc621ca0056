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
  readonly log: (line: string) => void
}

interface Served {
  readonly isSecure: boolean
  readonly server: PortServer
  readonly certificates: Certificates
  table: RouteTable
  /** Why the port is not open: a sentence. */
  fault?: string
}

const noRoutes = new RouteTable([], undefined)

export class ServedPorts {
  readonly #options: ServedPortsOptions
  /** By the port in objects. */
  readonly #ports = new Map<number, Served>()
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

  /** Serves these ports, by the port in objects, and closes all others except for the usual ones. */
  apply(pictures: ReadonlyMap<number, PortPicture & { readonly isSecure: boolean }>): void {
    for (const [port, served] of this.#ports) {
      const picture = pictures.get(port)
      if (picture && picture.isSecure === served.isSecure) {
        served.table = new RouteTable(picture.routes, picture.fallback)
        served.certificates.set(picture.certificates)
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
        served.table = new RouteTable(picture.routes, picture.fallback)
        served.certificates.set(picture.certificates)
        this.#ports.set(port, served)
        served.server.listen(this.#options.address, port).catch((error: Error) => {
          served.fault = `port ${port} is not available (${error.message}): choose another one`
          this.#options.log(`ingress: ${served.fault}`)
        })
      }
  }

  /** Accepts no more connections, lets requests finish, and closes the rest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#ports.values()].map(({ server }) => server.close(graceMs)))
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
