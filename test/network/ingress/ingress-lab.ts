/**
 * A cluster with an ingress proxy and backends on an address of this namespace, since EndpointSlices may not contain
 * addresses of the loopback range.
 */
import { execFileSync, spawn } from 'node:child_process'
import type { AddressInfo, Server } from 'node:net'
import { type Client, connectTo, type EndpointSlice, endpointSlices, services } from '../../../src/client/index.ts'
import { apiControllers, type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

export const backendAddress = '10.51.0.1'

export interface CurlResult {
  readonly status: number
  readonly body: string
  /** Head and body, with those of redirects. */
  readonly text: string
}

export class IngressLab {
  readonly cluster: TestCluster
  readonly client: Client
  readonly log: string[]
  readonly http: number
  readonly https: number
  readonly metrics: number
  readonly #t: Lifetime

  private constructor(t: Lifetime, cluster: TestCluster, client: Client, log: string[]) {
    this.#t = t
    this.cluster = cluster
    this.client = client
    this.log = log
    const ports = /http on 127\.0\.0\.1:(\d+) and https on 127\.0\.0\.1:(\d+), metrics on \S+:(\d+)\/metrics/
    const found = log.map((line) => ports.exec(line)).find((match) => match !== null)
    ;[this.http, this.https, this.metrics] = [1, 2, 3].map((group) => Number(found?.[group])) as [
      number,
      number,
      number,
    ]
  }

  /** Starts the cluster and the proxy, with the rights of `t8s up --ingress`. */
  static async start(t: Lifetime): Promise<IngressLab> {
    execFileSync('ip', ['link', 'set', 'lo', 'up'])
    execFileSync('ip', ['address', 'replace', `${backendAddress}/32`, 'dev', 'lo'])
    const log: string[] = []
    const cluster = await testCluster(t, {
      controllers: apiControllers,
      ingress: { httpPort: 0, httpsPort: 0, metricsPort: 0, accessLog: true },
      log: (line) => log.push(line),
    })
    await cluster.synced
    const client = await connectTo({ access: cluster.client })
    t.after(() => client.close())
    return new IngressLab(t, cluster, client, log)
  }

  /** Listens on the address of backends until the end of the test. */
  async listen(server: Server): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.listen(0, backendAddress, resolve)
    await promise
    this.#t.after(() => {
      server.close()
      if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections()
    })
    return (server.address() as AddressInfo).port
  }

  /** Creates a Service with one port 80, named http, and its EndpointSlices: one for each endpoint. */
  async service(name: string, ports: readonly number[], appProtocol?: string): Promise<void> {
    await this.client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name },
      spec: { ports: [{ name: 'http', port: 80, ...(appProtocol && { appProtocol }) }] },
    })
    for (const port of ports) await this.client.create(endpointSlices, sliceOf(name, port))
  }

  async removeEndpoint(name: string, port: number): Promise<void> {
    await this.client.delete(endpointSlices, 'default', `${name}-${port}`)
  }

  /** Runs curl, which resolves all names to the proxy. `--http2` and others may be given. */
  async curl(url: string, ...flags: string[]): Promise<CurlResult> {
    const { hostname, port, protocol } = new URL(url)
    const own = protocol === 'https:' ? this.https : this.http
    const connect = ['--connect-to', `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}:127.0.0.1:${own}`]
    const output = await runCurl(['-sS', '-k', '-i', '--max-time', '20', ...connect, ...flags, url])
    const heads = [...output.matchAll(/^HTTP\/\S+ (\d+)/gm)]
    const body = output.slice(output.lastIndexOf('\r\n\r\n') + 4)
    return { status: Number(heads.at(-1)?.[1] ?? 0), body, text: output }
  }

  /** Resolves when a request has this status. */
  async eventually(status: number, url: string, ...flags: string[]): Promise<CurlResult> {
    return waitFor(`${url} has status ${status}`, async () => {
      const result = await this.curl(url, ...flags)
      return result.status === status && result
    })
  }
}

const sliceOf = (name: string, port: number): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { namespace: 'default', name: `${name}-${port}`, labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port, protocol: 'TCP' }],
  endpoints: [{ addresses: [backendAddress] }],
})

/** Not synchronously: the proxy runs in this process. */
async function runCurl(args: readonly string[]): Promise<string> {
  const child = spawn('curl', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => {
      stream.setEncoding('utf8')
      return (await stream.toArray()).join('')
    }),
  )
  if (child.exitCode) throw new Error(`curl ${args.join(' ')}: ${child.exitCode} ${errors}`)
  return output ?? ''
}
