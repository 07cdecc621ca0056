/** DNS for any cluster (`t8s dns`). */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { type ForwardedDomain, type RunningDnsServer, startDnsServer } from '../../network/dns/dns-server.ts'
import { serversOf } from '../../network/dns/forward/resolv-conf.ts'
import { parseServer, type ServerAddress } from '../../network/dns/forward/upstream-server.ts'
import type { PodRecords } from '../../network/dns/zone/cluster-zone.ts'
import { accessOf } from '../kubeconfig-access.ts'
import { listenError } from '../listen-error.ts'

export interface StandaloneDnsOptions {
  /** A kubeconfig. Default: $KUBECONFIG, or the pod's service account. */
  readonly kubeconfig?: string
  readonly bindAddress: string
  readonly port: number
  /** Ports of pages; -1: no page. */
  readonly healthPort: number
  readonly readyPort: number
  readonly metricsPort: number
  readonly clusterDomain: string
  /** Seconds. */
  readonly ttl: number
  readonly podRecords: PodRecords
  /** Addresses of servers, or files with servers. Default: /etc/resolv.conf. */
  readonly upstream?: readonly string[]
  /** Such as `corp.example=10.0.0.1`. */
  readonly stubDomain?: readonly string[]
  /** Seconds. */
  readonly cacheTtl: number
  readonly lameduckMs: number
  readonly log: (line: string) => void
}

/** Rejects with an ExplainedError for flags that cannot be used, and ports that are taken. */
export async function startStandaloneDns(options: StandaloneDnsOptions): Promise<RunningDnsServer> {
  const { bindAddress, port, log } = options
  if (isIP(bindAddress) === 0) throw new ExplainedError(`--bind-address ${bindAddress} is not an IP address`)
  const own: ServerAddress = { address: bindAddress, port }
  const servers = upstreamServers(options.upstream ?? ['/etc/resolv.conf'], own)
  if (servers.length === 0) log('dns: no upstream server: only names of the cluster and of stub domains are answered')
  const started = startDnsServer({
    server: await accessOf(options.kubeconfig),
    address: bindAddress,
    port,
    pages: {
      health: portOf(options.healthPort),
      ready: portOf(options.readyPort),
      metrics: portOf(options.metricsPort),
    },
    domain: domainOf(options.clusterDomain, '--cluster-domain'),
    ttl: options.ttl,
    pods: options.podRecords,
    servers,
    stubDomains: stubDomains(options.stubDomain ?? []),
    maxCacheSeconds: options.cacheTtl,
    lameduckMs: options.lameduckMs,
    log,
  })
  return started.catch((error) => {
    throw listenError(error, bindAddress, port, '--port')
  })
}

const portOf = (port: number): number | undefined => (port < 0 ? undefined : port)

/**
 * The servers of `--upstream`: addresses, or the servers in files. The server itself is none of them, as queries would
 * go round in circles.
 */
export function upstreamServers(values: readonly string[], own: ServerAddress): ServerAddress[] {
  const found = values.flatMap((value) => {
    if (!value.startsWith('/')) return serverOf(value, '--upstream')
    try {
      return serversOf(readFileSync(value, 'utf8'))
    } catch (error) {
      throw new ExplainedError(`cannot read the servers in ${value} (--upstream): ${reasonOf(error)}`)
    }
  })
  return found.filter(({ address, port }) => address !== own.address || port !== own.port)
}

/** @example stubDomains(['corp.example=10.0.0.1,10.0.0.2:5353']) */
function stubDomains(values: readonly string[]): ForwardedDomain[] {
  return values.map((value) => {
    const [, domain = '', servers = ''] = /^([^=]+)=(.+)$/.exec(value) ?? []
    if (domain === '')
      throw new ExplainedError(`--stub-domain ${value} has no servers: write it like corp.example=10.0.0.1`)
    return {
      domain: domainOf(domain, '--stub-domain'),
      servers: servers.split(',').map((server) => serverOf(server, '--stub-domain')),
    }
  })
}

function serverOf(text: string, flag: string): ServerAddress {
  const server = parseServer(text.trim())
  if (server) return server
  throw new ExplainedError(
    `${flag}: ${JSON.stringify(text)} is not a server: write it like 192.0.2.53 or [2001:db8::1]:53`,
  )
}

function domainOf(text: string, flag: string): string {
  const domain = text.toLowerCase().replace(/^\.|\.$/g, '')
  if (/^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/.test(domain))
    return domain
  throw new ExplainedError(`${flag}: ${JSON.stringify(text)} is not a domain: write it like cluster.local`)
}
