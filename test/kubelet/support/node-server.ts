/** The HTTPS server of a kubelet before a real runtime, and its clients. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import type { RestClient } from '../../../src/client/rest/rest-client.ts'
import { selfSigned } from '../../../src/kubelet/credentials/key-pair.ts'
import { CriImages } from '../../../src/kubelet/cri/images.ts'
import type { CriRuntime } from '../../../src/kubelet/cri/runtime.ts'
import type { Pod } from '../../../src/kubelet/pod-types.ts'
import { Health } from '../../../src/kubelet/server/pages/health.ts'
import { servedKubelet } from '../../../src/kubelet/server/served-kubelet.ts'
import { kubeletStats } from '../../../src/kubelet/stats/kubelet-stats.ts'
import { UsageCollector } from '../../../src/kubelet/stats/usage/usage-collector.ts'
import { KubeletServer } from '../../../src/node/server/kubelet-server.ts'
import { SpdyConnection } from '../../../src/node/streaming/spdy/spdy-connection.ts'

const token = 'reader'

/** An API server that knows one token, whose user may do everything. */
const reviews = {
  async create(_resource: unknown, { kind, spec }: { kind: string; spec: { token?: string } }) {
    if (kind !== 'TokenReview') return { status: { allowed: true } }
    return { status: { authenticated: spec.token === token, user: { username: 'reader', groups: [] } } }
  },
} as unknown as RestClient

export interface NodeServerOptions {
  readonly runtime: CriRuntime
  /** As IDs of containers begin. */
  readonly runtimeName: string
  readonly endpoint: string
  readonly folder: string
  readonly pods: () => readonly Pod[]
}

export class NodeServer {
  readonly port: number

  private constructor(port: number) {
    this.port = port
  }

  static async start(t: TestContext, options: NodeServerOptions): Promise<NodeServer> {
    const { runtime, runtimeName, folder, endpoint } = options
    const images = new CriImages(endpoint)
    const log = (): void => {}
    const stats = new UsageCollector({
      runtime,
      images,
      nodeName: 'node-1',
      root: folder,
      cgroupFolder: '/sys/fs/cgroup',
      proc: '/proc',
      podsCgroup: '/kubepods',
      podLogs: folder,
      log,
      now: Date.now,
    })
    const nodes = servedKubelet({
      nodeName: 'node-1',
      runtime,
      runtimeName,
      pods: { all: options.pods, mirrors: () => [], statusOf: () => undefined, staticPodOf: () => undefined },
      health: new Health([], log),
      stats: kubeletStats(stats),
      metrics: () => '',
      probeMetrics: () => '',
      configuration: () => ({ kind: 'KubeletConfiguration' }),
      setVerbosity: () => {},
      checkpointFolder: folder,
      systemLogFolder: folder,
      logRoots: [folder],
      profile: () => undefined,
      enabled: { debugging: true, systemLogs: true, debugFlags: true, profiling: true },
      redirects: false,
      log,
      now: Date.now,
    })
    const tls = await selfSigned('node-1', ['127.0.0.1'], new Date())
    const server = new KubeletServer({ client: reviews, address: '127.0.0.1', port: 0, tls, clientCA: '', nodes })
    const port = await server.listen()
    t.after(async () => {
      await server.close()
      images.close()
    })
    return new NodeServer(port)
  }

  get #options() {
    return { host: '127.0.0.1', port: this.port, rejectUnauthorized: false, agent: false } as const
  }

  async get(path: string, authorization = `Bearer ${token}`): Promise<IncomingMessage> {
    const sent = request({ ...this.#options, path, headers: { authorization } }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }

  async text(path: string): Promise<string> {
    return Buffer.concat(await (await this.get(path)).toArray()).toString()
  }

  async spdy(t: TestContext, path: string, version: string): Promise<SpdyConnection> {
    const headers = {
      authorization: `Bearer ${token}`,
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': version,
    }
    const sent = request({ ...this.#options, path, method: 'POST', headers }).end()
    const [, socket, head] = (await once(sent, 'upgrade')) as [unknown, Socket, Buffer]
    t.after(() => socket.destroy())
    return new SpdyConnection(socket, head, (stream) => stream.destroy(), 'client')
  }

  async webSocket(t: TestContext, path: string, protocol: string) {
    const headers = { authorization: `Bearer ${token}` }
    const socket = new WebSocket(`wss://127.0.0.1:${this.port}${path}`, protocol, {
      rejectUnauthorized: false,
      headers,
    })
    const messages: Buffer[] = []
    socket.on('message', (data) => messages.push(data as Buffer))
    t.after(() => socket.terminate())
    await once(socket, 'open')
    const channel = (number: number): Buffer =>
      Buffer.concat(messages.filter((one) => one[0] === number).map((one) => one.subarray(1)))
    return { socket, channel }
  }
}
