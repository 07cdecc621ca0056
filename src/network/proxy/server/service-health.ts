/**
 * Health-check node ports: load balancers ask each node whether it has endpoints of a Service with
 * `externalTrafficPolicy: Local`. One HTTP server per Service and address.
 */
import { createServer, type Server } from 'node:http'
import { messageOf } from '../../../lib/message-of.ts'
import type { ServicePicture } from '../picture/service-picture.ts'

export interface ServiceHealthOptions {
  /** The addresses to listen on: `0.0.0.0` or `::` for all of the family. */
  readonly addresses: () => readonly string[]
  readonly isProxyHealthy: () => boolean
  /** Called once per Service and port if an address is not available; the next sync tries again. */
  readonly onFailure: (service: { namespace: string; name: string }, port: number, message: string) => void
}

interface Served {
  readonly namespace: string
  readonly name: string
  readonly port: number
  readonly servers: readonly Server[]
  localEndpoints: number
}

export class ServiceHealthServers {
  readonly #options: ServiceHealthOptions
  readonly #served = new Map<string, Served>()
  /** `SERVICE PORT` of which a failure was reported. */
  readonly #failed = new Set<string>()

  constructor(options: ServiceHealthOptions) {
    this.#options = options
  }

  /** Serves the health-check ports of a picture. Never rejects. */
  async sync(picture: ServicePicture): Promise<void> {
    const wanted = wantedPorts(picture)
    const ends = [...this.#served].filter(([key, { port }]) => wanted.get(key)?.port !== port)
    await Promise.all(ends.map(([key]) => this.#end(key)))
    for (const [key, each] of wanted) {
      const known = this.#served.get(key)
      if (known) known.localEndpoints = each.localEndpoints
      else await this.#begin(key, each)
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#served.keys()].map((key) => this.#end(key)))
  }

  async #begin(key: string, { namespace, name, port, localEndpoints }: Omit<Served, 'servers'>): Promise<void> {
    const servers = this.#options.addresses().map((address) => ({ address, server: this.#server(key) }))
    const served: Served = { namespace, name, port, localEndpoints, servers: servers.map(({ server }) => server) }
    try {
      this.#served.set(key, served)
      for (const { address, server } of servers) await listen(server, address, port)
      this.#failed.delete(`${key} ${port}`)
    } catch (error) {
      await this.#end(key)
      if (this.#failed.has(`${key} ${port}`)) return
      this.#failed.add(`${key} ${port}`)
      this.#options.onFailure({ namespace, name }, port, messageOf(error))
    }
  }

  async #end(key: string): Promise<void> {
    const served = this.#served.get(key)
    this.#served.delete(key)
    await Promise.all((served?.servers ?? []).map(close))
  }

  #server(key: string): Server {
    return createServer((request, response) => {
      request.resume()
      const served = this.#served.get(key)
      if (!served) {
        response.destroy()
        return
      }
      const { namespace, name, localEndpoints } = served
      const serviceProxyHealthy = this.#options.isProxyHealthy()
      const headers = {
        'Content-Type': 'application/json',
        'X-Content-Type-Options': 'nosniff',
        'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
      }
      response.writeHead(localEndpoints > 0 && serviceProxyHealthy ? 200 : 503, headers)
      response.end(
        JSON.stringify({ service: { namespace, name }, localEndpoints, serviceProxyHealthy }, undefined, '\t'),
      )
    }).unref()
  }
}

/** Counts each ready endpoint of this node once, whatever the number of its ports. */
function wantedPorts(picture: ServicePicture): Map<string, Omit<Served, 'servers'>> {
  const wanted = new Map<string, Omit<Served, 'servers'>>()
  for (const [key, ports] of picture) {
    const [first] = ports
    if (!first || first.healthCheckNodePort === 0) continue
    const local = new Set<string>()
    for (const { endpoints } of ports)
      for (const { address, isLocal, isReady } of endpoints.all) if (isLocal && isReady) local.add(address)
    const { namespace, service: name, healthCheckNodePort: port } = first
    wanted.set(key, { namespace, name, port, localEndpoints: local.size })
  }
  return wanted
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port, ipv6Only: host.includes(':') }, resolve)
  await promise
  server.off('error', reject)
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}
