/** A DNS server of a cluster with 1,000 Services, in a process of its own, which reports its CPU time when asked. */
import { MetricsRegistry } from '../../src/lib/metrics/registry.ts'
import { Forwarder } from '../../src/network/dns/forward/forwarder.ts'
import { ResponseCache } from '../../src/network/dns/forward/response-cache.ts'
import { Resolver } from '../../src/network/dns/resolver.ts'
import { DatagramListener } from '../../src/network/dns/server/datagram-listener.ts'
import { DnsMetrics } from '../../src/network/dns/server/dns-metrics.ts'
import { Exchange } from '../../src/network/dns/server/exchange.ts'
import { ClusterObjects } from '../../src/network/dns/zone/cluster-objects.ts'
import { ClusterZone } from '../../src/network/dns/zone/cluster-zone.ts'

const count = 1000

const objects = new ClusterObjects()
objects.setNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }, undefined)
for (let i = 0; i < count; i++)
  objects.setService(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name: `web-${i}` },
      spec: { clusterIP: `10.96.${i >> 8}.${i & 255}`, ports: [{ name: 'http', port: 80 }] },
    },
    undefined,
  )
const cache = new ResponseCache(() => performance.now())
const metrics = new DnsMetrics(new MetricsRegistry(), () => cache.size)
const resolver = new Resolver({
  zone: new ClusterZone({ objects, domain: 'cluster.local', ttl: 30, pods: 'insecure' }),
  domain: 'cluster.local',
  version: () => objects.version,
  isReady: () => true,
  stubDomains: [],
  forwarder: new Forwarder({ servers: [], random: Math.random, log: console.error, asked: () => {} }),
  cache,
  maxCacheSeconds: 30,
  looked: () => {},
})
const exchange = new Exchange(resolver, metrics)
const listener = await DatagramListener.listen({ address: '127.0.0.1', port: 0, serves: () => true }, exchange)
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
process.send?.(listener.port)
