/**
 * `npm run bench -- --ingress`: requests per second through the ingress proxy and directly to its backend, and the CPU
 * time of the proxy's thread per request. The responses have 1 KiB.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Backends } from '../../src/network/ingress/picture/backends.ts'
import type { Route } from '../../src/network/ingress/picture/route.ts'
import { RouteTable } from '../../src/network/ingress/picture/route-table.ts'
import { defaultLimits } from '../../src/network/ingress/proxy/limits.ts'
import { PortServer } from '../../src/network/ingress/proxy/port-server.ts'
import { ReverseProxy } from '../../src/network/ingress/proxy/reverse-proxy.ts'
import { print } from '../report.ts'
import type { LoadOrder, LoadReport } from './ingress-load.ts'

const rounds = 3
const ms = 3000
const clientCounts = [1, 32]
/** Hosts, each with this many paths. */
const hosts = 1000

export async function benchIngress(): Promise<void> {
  const worker = new Worker(new URL('./ingress-load.ts', import.meta.url))
  const [{ backend }] = (await once(worker, 'message')) as [Extract<LoadReport, { backend: number }>]
  const { proxy, server, port } = await startProxy(backend)
  const load = async (order: Omit<LoadOrder, 'ms'>): Promise<number> => {
    worker.postMessage({ ...order, ms } satisfies LoadOrder)
    const [{ requests }] = (await once(worker, 'message')) as [Extract<LoadReport, { requests: number }>]
    return requests
  }
  const rows: string[][] = []
  for (const clients of clientCounts)
    for (let round = 0; round < rounds; round++) {
      const direct = await load({ port: backend, clients })
      const before = process.threadCpuUsage()
      const proxied = await load({ port, clients })
      const { user, system } = process.threadCpuUsage(before)
      const perSecond = (requests: number): string => (requests / (ms / 1000)).toFixed(0)
      const cpu = ((user + system) / proxied).toFixed(0)
      rows.push([String(clients), perSecond(direct), perSecond(proxied), (proxied / direct).toFixed(2), cpu])
    }
  print([['clients', 'direct /s', 'proxy /s', 'ratio', 'proxy CPU µs'], ...rows])
  await server.close(0)
  proxy.close()
  await worker.terminate()
}

async function startProxy(backend: number) {
  const backends: Backends = new Backends(
    {
      service: (namespace, name) => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace, name },
        spec: { ports: [{ port: 80 }] },
      }),
      slices: () => [
        {
          apiVersion: 'discovery.k8s.io/v1',
          kind: 'EndpointSlice',
          metadata: {},
          addressType: 'IPv4',
          ports: [{ name: '', port: backend, protocol: 'TCP' }],
          endpoints: [{ addresses: ['127.0.0.1'] }],
        },
      ],
    },
    () => {},
  )
  const proxy = new ReverseProxy({ backends, limits: defaultLimits, random: Math.random })
  const names = ['bench.example.com', ...Array.from({ length: hosts - 1 }, (_, at) => `host-${at}.example.com`)]
  const table = new RouteTable(names.flatMap(routesOf), undefined)
  const server = new PortServer({ proxy, limits: defaultLimits, table: () => table })
  return { proxy, server, port: await server.listen('127.0.0.1', 0) }
}

const routesOf = (host: string): Route[] =>
  ['/api', '/static', '/'].map((value) => ({
    host,
    match: { path: { type: 'Prefix', value } },
    action: { name: 'bench', backends: [{ weight: 1, backend: { namespace: 'default', name: 'web', port: 80 } }] },
    origin: { createdAt: '', key: host },
  }))
