/** Starts DNS for a cluster: connects its objects, the servers outside, and the listeners. */
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { SharedInformers, transformed } from '../../client/informers/shared-informers.ts'
import { endpointSlices, namespaces, services } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { Lifetime } from '../../lib/lifetime/lifetime.ts'
import { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { Forwarder } from './forward/forwarder.ts'
import { ResponseCache } from './forward/response-cache.ts'
import type { ServerAddress } from './forward/upstream-server.ts'
import { Resolver } from './resolver.ts'
import { DatagramListener } from './server/datagram-listener.ts'
import { DnsMetrics } from './server/dns-metrics.ts'
import { Exchange } from './server/exchange.ts'
import { type PagePort, servePage } from './server/status-pages.ts'
import { StreamListener } from './server/stream-listener.ts'
import { ClusterObjects } from './zone/cluster-objects.ts'
import { ClusterZone, type PodRecords } from './zone/cluster-zone.ts'
import { trimmedNamespace, trimmedService, trimmedSlice } from './zone/trimmed-objects.ts'

/** A domain, and the servers that its names are forwarded to. */
export interface ForwardedDomain {
  readonly domain: string
  readonly servers: readonly ServerAddress[]
}

/** Ports of pages; undefined: the page is not served. 0 takes a free port. */
export interface PagePorts {
  readonly health?: number | undefined
  readonly ready?: number | undefined
  readonly metrics?: number | undefined
}

export interface DnsServerOptions {
  readonly server: ServerAccess
  /** The address that it listens on, also for its pages. */
  readonly address: string
  /** True for addresses of clients that are answered. Default: all. */
  readonly serves?: (client: string) => boolean
  /** 0 takes a free one. */
  readonly port: number
  readonly pages: PagePorts
  /** `cluster.local`. */
  readonly domain: string
  /** Of records of the cluster, in seconds. */
  readonly ttl: number
  readonly pods: PodRecords
  /** The servers for all names outside of the cluster; none: such names are refused. */
  readonly servers: readonly ServerAddress[]
  readonly stubDomains: readonly ForwardedDomain[]
  /** The longest time in seconds for which responses of other servers are cached. */
  readonly maxCacheSeconds: number
  /** How long it answers after `stop`, in ms, while clients are sent to others. */
  readonly lameduckMs: number
  readonly log: (line: string) => void
}

export interface RunningDnsServer {
  /** The port of UDP and TCP. */
  readonly port: number
  readonly pages: PagePorts
  /** Resolves when the objects of the cluster are known. */
  readonly synced: Promise<void>
  stop(): Promise<void>
}

/** Rejects if the address or a port is not available. */
export async function startDnsServer(options: DnsServerOptions): Promise<RunningDnsServer> {
  const { domain, ttl, pods, address, maxCacheSeconds, lameduckMs, log } = options
  const lifetime = new Lifetime()
  const objects = new ClusterObjects()
  const cache = new ResponseCache(() => performance.now())
  const registry = new MetricsRegistry()
  const metrics = new DnsMetrics(registry, () => cache.size)
  const state = { isReady: false, isStopping: false }
  const forwarderOf = (servers: readonly ServerAddress[]): Forwarder =>
    new Forwarder({ servers, random, log, asked: (...asked) => metrics.asked(...asked) })
  const resolver = new Resolver({
    zone: new ClusterZone({ objects, domain, ttl, pods }),
    domain,
    version: () => objects.version,
    isReady: () => state.isReady,
    stubDomains: options.stubDomains.map(({ domain: name, servers }) => ({
      domain: name.toLowerCase(),
      forwarder: forwarderOf(servers),
    })),
    forwarder: forwarderOf(options.servers),
    cache,
    maxCacheSeconds,
    looked: (isHit) => metrics.looked(isHit),
  })
  try {
    const port = await listen(options, new Exchange(resolver, metrics), lifetime)
    const pages = await servePages(options, state, registry, lifetime)
    const synced = follow(options, objects, lifetime).then(() => {
      state.isReady = true
    })
    return {
      port,
      pages,
      synced,
      async stop() {
        state.isStopping = true
        if (lameduckMs > 0) log(`dns: answering for another ${lameduckMs / 1000} s at ${address}`)
        await delay(lameduckMs)
        await lifetime.end()
      },
    }
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

/** IDs of forwarded queries must not be predictable. */
const randomRange = 2 ** 32
const random = (): number => randomInt(randomRange) / randomRange

/** UDP and TCP have the same port. */
async function listen(
  { address, port, serves = () => true }: DnsServerOptions,
  exchange: Exchange,
  lifetime: Lifetime,
): Promise<number> {
  const datagrams = await DatagramListener.listen({ address, port, serves }, exchange)
  lifetime.onEnd(() => datagrams.close())
  const streams = await StreamListener.listen({ address, port: datagrams.port, serves }, exchange)
  lifetime.onEnd(() => streams.close())
  return datagrams.port
}

async function servePages(
  { address, pages }: DnsServerOptions,
  state: { readonly isReady: boolean; readonly isStopping: boolean },
  registry: MetricsRegistry,
  lifetime: Lifetime,
): Promise<PagePorts> {
  const serve = async (
    port: number | undefined,
    path: string,
    page: () => { readonly status: number; readonly text: string },
  ): Promise<number | undefined> => {
    if (port === undefined) return undefined
    const served: PagePort = await servePage(address, port, path, page)
    lifetime.onEnd(() => served.close())
    return served.port
  }
  const health = await serve(pages.health, '/health', () =>
    state.isStopping ? { status: 503, text: 'shutting down' } : { status: 200, text: 'OK' },
  )
  const ready = await serve(pages.ready, '/ready', () =>
    state.isReady && !state.isStopping ? { status: 200, text: 'OK' } : { status: 503, text: 'kubernetes' },
  )
  const metrics = await serve(pages.metrics, '/metrics', () => ({ status: 200, text: registry.render() }))
  return { health, ready, metrics }
}

/** Resolves when all objects are known. */
async function follow({ server, log }: DnsServerOptions, objects: ClusterObjects, lifetime: Lifetime): Promise<void> {
  const connection = new Connection({ ...server, userAgent: 't8s-dns' })
  lifetime.onEnd(() => connection.close())
  const informers = new SharedInformers(new RestClient(connection), log, [
    transformed({ resource: services, transform: trimmedService }),
    transformed({ resource: endpointSlices, transform: trimmedSlice }),
    transformed({ resource: namespaces, transform: trimmedNamespace }),
  ])
  lifetime.onEnd(() => informers.stop())
  informers.of(namespaces).onChange((object, old) => objects.setNamespace(object, old))
  informers.of(services).onChange((object, old) => objects.setService(object, old))
  informers.of(endpointSlices).onChange((object, old) => objects.setSlice(object, old))
  await Promise.all([namespaces, services, endpointSlices].map((resource) => informers.synced(resource)))
}
