/**
 * An ingress controller with an embedded reverse proxy: serves the Ingresses of its class, from any API server, and
 * forwards requests to endpoints of Services.
 */

import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { runController } from '../../client/controller/controller.ts'
import { FailureLog } from '../../client/controller/failure-log.ts'
import { SharedInformers } from '../../client/informers/shared-informers.ts'
import { endpointSlices, type Ingress, ingressClasses, ingresses, services } from '../../client/kinds.ts'
import { WorkQueue } from '../../client/queue/work-queue.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { issueCertificate, makeAuthority } from '../../lib/x509/certificates.ts'
import type { KeyPair } from '../../lib/x509/key-pair.ts'
import { GatewayApi } from './gateway-api.ts'
import { type MetricsPage, serveMetrics } from './metrics-page.ts'
import { Backends, serviceKeysOf } from './picture/backends.ts'
import { isServed, pictureOfIngresses, type SecretForHost } from './picture/ingress-routes.ts'
import { defaultLimits } from './proxy/limits.ts'
import { ReverseProxy } from './proxy/reverse-proxy.ts'
import { SecretWatches } from './secret-watches.ts'
import { type PortPicture, ServedPorts, usualHttpPort, usualHttpsPort } from './served-ports.ts'
import { createIngressClass } from './status/ingress-class.ts'
import { ingressStatusController } from './status/ingress-status.ts'

export interface IngressOptions {
  /** The address to listen on. */
  readonly address: string
  /** Default: 80 and 443, or else 8080 and 8443, or any free ones. */
  readonly httpPort?: number
  readonly httpsPort?: number
  /** Addresses at which clients reach the proxy, for the status of objects. */
  readonly published: readonly string[]
  /** Logs each request. Default: false. */
  readonly accessLog?: boolean
  /** A port of 127.0.0.1 for `/metrics` and `/healthz`; 0 takes any free one. Default: none. */
  readonly metricsPort?: number
}

export interface RunningIngress {
  /** Resolves when all ports are open and the first rules are in effect. Rejects if a port is not available. */
  readonly started: Promise<void>
  stop(): Promise<void>
}

/** Time for requests in progress when the proxy stops, in ms. */
const graceMs = 3_000
/** Changes within this time share one computation of the routes, in ms. */
const settleMs = 10

/** Starts in the background. `log` gets the addresses, and failures. */
export function runIngress(options: IngressOptions, access: ServerAccess, log: (line: string) => void): RunningIngress {
  const ingress = new IngressProxy(options, access, log)
  return { started: ingress.start(), stop: () => ingress.stop() }
}

class IngressProxy {
  readonly #options: IngressOptions
  readonly #log: (line: string) => void
  readonly #connection: Connection
  readonly #client: RestClient
  readonly #informers: SharedInformers
  readonly #secrets: SecretWatches
  readonly #gatewayApi: GatewayApi
  readonly #backends: Backends
  readonly #proxy: ReverseProxy
  readonly #queue: WorkQueue
  #ports: ServedPorts | undefined
  #metrics: MetricsPage | undefined
  #status: { stop(): Promise<void> } | undefined
  #requeueStatus: (key: string) => void = () => {}

  constructor(options: IngressOptions, access: ServerAccess, log: (line: string) => void) {
    this.#options = options
    this.#log = log
    this.#connection = new Connection(access)
    this.#client = new RestClient(this.#connection)
    this.#informers = new SharedInformers(this.#client, log)
    this.#secrets = new SecretWatches(this.#client, (key) => this.#secretChanged(key), log)
    this.#gatewayApi = new GatewayApi({
      client: this.#client,
      addresses: options.published,
      hasService: (namespace, name) => this.#informers.of(services).get(namespace, name) !== undefined,
      secrets: this.#secrets,
      portFault: (port, isSecure) => this.#ports?.fault(port, isSecure),
      changed: () => this.#changed(),
      log,
    })
    this.#backends = new Backends(
      {
        service: (namespace, name) => this.#informers.of(services).get(namespace, name),
        slices: (namespace, name) => this.#informers.of(endpointSlices).by(serviceKeysOf, `${namespace}/${name}`),
      },
      (endpoint) => this.#proxy.retire(endpoint),
    )
    const accessLog = options.accessLog ? (line: string) => log(`ingress: ${line}`) : undefined
    this.#proxy = new ReverseProxy({ backends: this.#backends, limits: defaultLimits, accessLog, random: Math.random })
    const failures = new FailureLog((line) => log(`ingress: ${line}`))
    this.#queue = new WorkQueue({
      work: async () => this.#applyRoutes(),
      onFailure: (key, error) => failures.record(key, error, this.#queue.failures(key)),
    })
  }

  async start(): Promise<void> {
    const { address, httpPort, httpsPort, published, metricsPort } = this.#options
    const fallback = await selfSigned()
    const log = this.#log
    const ports = new ServedPorts({
      proxy: this.#proxy,
      limits: defaultLimits,
      address,
      httpPort,
      httpsPort,
      fallback,
      failed: () => this.#changed(),
      log,
    })
    this.#ports = ports
    await ports.open()
    if (metricsPort !== undefined) this.#metrics = await serveMetrics(metricsPort, () => this.#proxy.metrics.render())
    await createIngressClass(this.#client)
    this.#watch()
    const clients = { informers: this.#informers, client: this.#client }
    const faults = (ingress: Ingress): readonly string[] => this.#faultsOf(ingress)
    const started = (requeue: (key: string) => void): void => void (this.#requeueStatus = requeue)
    const status = runController(ingressStatusController({ addresses: published, faults, started }), clients, log)
    this.#status = status
    await Promise.all([
      status.synced,
      ...[services, endpointSlices].map((resource) => this.#informers.synced(resource)),
    ])
    this.#applyRoutes()
    this.#queue.start()
    this.#gatewayApi.start()
    const metrics = this.#metrics ? `, metrics on http://127.0.0.1:${this.#metrics.port}/metrics` : ''
    log(`ingress serves http on ${address}:${ports.httpPort} and https on ${address}:${ports.httpsPort}${metrics}`)
  }

  async stop(): Promise<void> {
    await this.#ports?.close(graceMs)
    await this.#queue.stop()
    await this.#status?.stop()
    await this.#gatewayApi.stop()
    await this.#metrics?.stop()
    await Promise.all([this.#secrets.stop(), this.#informers.stop()])
    this.#proxy.close()
    this.#connection.close()
  }

  #watch(): void {
    this.#informers.of(services).onChange((service, old) => {
      const { namespace = '', name = '' } = (service ?? old)!.metadata
      this.#backends.refresh(namespace, name)
      if (!service || !old) this.#changed()
    })
    this.#informers.of(endpointSlices).onChange((slice, old) => {
      const keys = new Set([slice, old].flatMap((one) => (one ? serviceKeysOf(one) : [])))
      for (const key of keys) {
        const [namespace = '', name = ''] = key.split('/')
        this.#backends.refresh(namespace, name)
      }
    })
    this.#informers.of(ingresses).onChange(() => this.#changed())
    this.#informers.of(ingressClasses).onChange(() => this.#changed())
  }

  #changed(): void {
    this.#queue.addAfter('routes', settleMs)
  }

  #secretChanged(key: string): void {
    this.#changed()
    for (const { metadata, spec } of this.#informers.of(ingresses).in(key.split('/')[0] ?? ''))
      if (spec?.tls?.some(({ secretName }) => key === `${metadata.namespace}/${secretName}`))
        this.#requeueStatus(`${metadata.namespace}/${metadata.name}`)
  }

  /** Computes the routes of all objects, and serves them. */
  #applyRoutes(): void {
    const all = this.#informers.of(ingresses).all()
    const classes = this.#informers.of(ingressClasses)
    const served = [...all].filter((ingress) => isServed(ingress, (name) => classes.get('', name)))
    const { routes, fallback, secrets } = pictureOfIngresses(served)
    const gateway = this.#gatewayApi.picture()
    const wanted = [...secrets, ...(gateway?.secrets ?? [])]
    this.#secrets.watch(new Set(wanted.map(({ namespace, name }) => `${namespace}/${name}`)))
    const ports = new Map<number, PortPicture & { readonly isSecure: boolean }>()
    for (const port of new Set([usualHttpPort, usualHttpsPort, ...(gateway?.ports.keys() ?? [])])) {
      const isUsual = port === usualHttpPort || port === usualHttpsPort
      const ofGateways = gateway?.ports.get(port)
      ports.set(port, {
        isSecure: ofGateways?.isSecure ?? port === usualHttpsPort,
        routes: [...(isUsual ? routes : []), ...(ofGateways?.routes ?? [])],
        fallback: isUsual ? fallback : undefined,
        hosts: ofGateways?.hosts,
        certificates: this.#certificatesOf([...(isUsual ? secrets : []), ...(ofGateways?.secrets ?? [])]),
      })
    }
    this.#ports?.apply(ports, gateway?.namedPorts)
    if (gateway) this.#gatewayApi.writeStatus(gateway)
  }

  /** The first Secret of a host is used. */
  #certificatesOf(found: readonly SecretForHost[]): Map<string, KeyPair> {
    const pairs = new Map<string, KeyPair>()
    for (const { host, namespace, name } of found) {
      const certificate = this.#secrets.certificate(namespace, name)
      if (certificate && 'pair' in certificate && !pairs.has(host)) pairs.set(host, certificate.pair)
    }
    return pairs
  }

  #faultsOf({ metadata: { namespace = '' }, spec }: Ingress): string[] {
    return (spec?.tls ?? []).flatMap(({ secretName = '' }) => {
      const certificate = secretName ? this.#secrets.certificate(namespace, secretName) : undefined
      return certificate && 'fault' in certificate ? [certificate.fault] : []
    })
  }
}

/** The certificate for hosts without one. Browsers warn about it. */
async function selfSigned(): Promise<KeyPair> {
  const authority = await makeAuthority('t8s ingress', new Date())
  const request = { commonName: 't8s ingress default', usage: 'server', hosts: ['localhost', '127.0.0.1'] } as const
  return issueCertificate(authority, request, new Date())
}
