/** The kubelet's three HTTP servers: health, read-only access, and the core one with authentication. */
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { Verbosity } from '../../lib/log/verbosity.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import type { AccessRules } from '../../node/server/access.ts'
import type { ReviewTimes } from '../../node/server/callers.ts'
import { KubeletServer, type ServingCertificate, type TlsLimits } from '../../node/server/kubelet-server.ts'
import { KubeletPages } from './pages/kubelet-pages.ts'
import { PlainServer } from './plain-server.ts'
import { requestMetrics } from './request-metrics.ts'
import { type ServedKubeletOptions, servedKubelet } from './served-kubelet.ts'

export interface KubeletServersOptions extends ServedKubeletOptions {
  readonly client: RestClient
  /** The core server: its address and port (10250). */
  readonly address: string
  readonly port: number
  readonly tls: ServingCertificate | undefined
  readonly clientCA: string | (() => string)
  readonly access: AccessRules
  readonly reviewTimes: ReviewTimes
  readonly tlsLimits: TlsLimits
  /** False leaves out the core server (`enableServer`). */
  readonly hasCore: boolean
  /** Registers the metrics of requests. */
  readonly registry: MetricsRegistry
  readonly verbosity: Verbosity
  /** The server for `/healthz` (127.0.0.1, 10248); undefined turns it off. */
  readonly healthz: { readonly address: string; readonly port: number } | undefined
  /** The port of read-only access without authentication (10255); undefined turns it off, which is the default. */
  readonly readOnlyPort: number | undefined
}

/** The ports that the servers listen on. */
export interface KubeletPorts {
  readonly core: number
  readonly healthz: number | undefined
  readonly readOnly: number | undefined
}

export class KubeletServers {
  readonly #options: KubeletServersOptions
  readonly #core: KubeletServer
  readonly #healthz: PlainServer
  readonly #readOnly: PlainServer

  constructor(options: KubeletServersOptions) {
    this.#options = options
    const count = requestMetrics(options.registry, options.now, options.verbosity)
    const pages = new KubeletPages(options)
    this.#core = new KubeletServer({
      ...options,
      nodes: servedKubelet(options, pages),
      observe: (request, until) => count(request, until, 'readwrite'),
    })
    this.#healthz = new PlainServer(async ({ path, query }) => options.health.page(path, query))
    this.#readOnly = new PlainServer(
      (request) => pages.defaultPage(request),
      (request, until) => count(request, until, 'readonly'),
    )
  }

  /** Rejects if one of the servers cannot listen; then none does. */
  async listen(): Promise<KubeletPorts> {
    const { healthz, readOnlyPort, address, hasCore, port } = this.#options
    try {
      return {
        core: hasCore ? await this.#core.listen() : port,
        healthz: healthz && (await this.#healthz.listen(healthz.address, healthz.port)),
        readOnly: readOnlyPort === undefined ? undefined : await this.#readOnly.listen(address, readOnlyPort),
      }
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Replaces the certificate of the core server, for new connections. */
  setCertificate(tls: ServingCertificate): void {
    this.#core.setCertificate(tls)
  }

  async close(): Promise<void> {
    await Promise.all([this.#core.close(), this.#healthz.close(), this.#readOnly.close()])
  }
}
