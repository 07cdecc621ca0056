/** DNS of a cluster's real node: it listens at the gateway of the pods, and serves pods and this machine alone. */
import { Connection, type ServerAccess } from '../../client/connection/connection.ts'
import { endpointSlices } from '../../client/kinds.ts'
import { RestClient } from '../../client/rest/rest-client.ts'
import { errorCode } from '../../lib/explained-error.ts'
import { type DnsServerOptions, type RunningDnsServer, startDnsServer } from '../../network/dns/dns-server.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { dnsNamespace, dnsSlice } from './cluster-dns.ts'
import { upstreamServers } from './standalone-dns.ts'

/** The settings of DNS for the thread of the node, as plain data. */
export interface EmbeddedDns {
  /** The certificate of its user. */
  readonly client: KeyPair
  /** The address that it listens on. */
  readonly gateway: string
  /** The ranges of its clients, beside this machine: those of pods. */
  readonly ranges: readonly string[]
  /** True if it serves the networks of this machine's interfaces, too: pods of other nodes may have their addresses. */
  readonly servesNeighbours: boolean
  readonly domain: string
}

export interface EmbeddedDnsOptions {
  readonly dns: EmbeddedDns
  readonly node: string
  readonly server: Pick<ServerAccess, 'url' | 'ca'>
  /** True for clients that it answers. */
  readonly serves: (address: string) => boolean
  readonly log: (line: string) => void
}

/** As kubeadm's Corefile, in seconds. */
const ttl = 30
const usualPorts = { dns: 53, metrics: 9153 }

/** Resolves when it answers. Rejects if the gateway is no address of this machine. */
export async function startEmbeddedDns(options: EmbeddedDnsOptions): Promise<RunningDnsServer> {
  const { dns, node, server, serves, log } = options
  const access = { ...server, ...dns.client }
  const common: Omit<DnsServerOptions, 'port' | 'pages'> = {
    server: access,
    address: dns.gateway,
    serves,
    domain: dns.domain,
    ttl,
    pods: 'insecure',
    servers: upstreamServers(['/etc/resolv.conf'], { address: dns.gateway, port: usualPorts.dns }),
    stubDomains: [],
    maxCacheSeconds: ttl,
    lameduckMs: 0,
    log,
  }
  const usual = { ...common, port: usualPorts.dns, pages: { metrics: usualPorts.metrics } }
  const running = await startDnsServer(usual).catch((error) => {
    if (errorCode(error) !== 'EADDRINUSE') throw error
    return startDnsServer({ ...common, port: 0, pages: { metrics: 0 } })
  })
  try {
    await announce(access, dns.gateway, node, running)
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}

/** Writes the address and the ports into the EndpointSlice of the Service. */
async function announce(
  server: ServerAccess,
  address: string,
  nodeName: string,
  { port, pages }: RunningDnsServer,
): Promise<void> {
  const connection = new Connection({ ...server, userAgent: 't8s-dns' })
  try {
    const ports = [
      { name: 'dns', port, protocol: 'UDP' },
      { name: 'dns-tcp', port, protocol: 'TCP' },
      { name: 'metrics', port: pages.metrics, protocol: 'TCP' },
    ]
    const endpoints = [
      { addresses: [address], conditions: { ready: true, serving: true, terminating: false }, nodeName },
    ]
    await new RestClient(connection).patch(endpointSlices, dnsNamespace, dnsSlice, { ports, endpoints }, 'merge')
  } finally {
    connection.close()
  }
}
