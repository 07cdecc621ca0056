/**
 * exec, attach and port-forward through the runtime's streaming server: the runtime gives a URL, and the client's
 * connection is passed on to it. SPDY is passed on byte by byte; WebSockets, of which runtimes know fewer protocols
 * than clients, are translated to SPDY.
 */
import { grpcCodeOf } from '../../../lib/grpc/grpc-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { HttpError } from '../../../node/http-error.ts'
import type { ContainerPath } from '../../../node/server/served-nodes.ts'
import { forwardThrough } from '../../../node/streaming/backend/forward-through.ts'
import { proxyUpgrade } from '../../../node/streaming/backend/proxy-upgrade.ts'
import { commandThrough } from '../../../node/streaming/backend/translate-command.ts'
import { portsOf } from '../../../node/streaming/port-forward/ports.ts'
import { servePortForward } from '../../../node/streaming/port-forward/serve-port-forward.ts'
import { serveCommand } from '../../../node/streaming/remote-command/serve-command.ts'
import { requestedStreams } from '../../../node/streaming/serve-stream.ts'
import { connectSpdy } from '../../../node/streaming/spdy/connect-spdy.ts'
import { protocolOf, type Upgrade } from '../../../node/streaming/upgrade.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import type { Pod } from '../../pod-types.ts'
import { podForStream, type ServedPods } from '../pages/served-pods.ts'
import { RedirectedStreams, type RuntimeStream } from './redirected-streams.ts'
import { readySandboxOf, runningContainer } from './runtime-containers.ts'

type StreamRuntime = Pick<CriRuntime, 'containers' | 'sandboxes' | 'execUrl' | 'attachUrl' | 'portForwardUrl'>

export interface RuntimeStreamsOptions {
  readonly runtime: StreamRuntime
  readonly pods: ServedPods
  /** `--redirect-container-streaming`: clients are redirected to a path of the kubelet that leads to the runtime. */
  readonly redirects: boolean
}

export class RuntimeStreams {
  readonly #options: RuntimeStreamsOptions
  readonly #redirected = new RedirectedStreams()

  constructor(options: RuntimeStreamsOptions) {
    this.#options = options
  }

  /** Serves an upgrade. Rejects with an HttpError, before it has answered, if it cannot. */
  async serve(upgrade: Upgrade, kind: string, path: ContainerPath, query: URLSearchParams): Promise<void> {
    if (kind === 'cri') {
      await connect(upgrade, this.#redirected.take(upgrade.request.url ?? ''))
      return
    }
    const pod = podForStream(this.#options.pods, path)
    if (kind === 'portForward' && protocolOf(upgrade) === 'websocket') portsOf(query)
    const stream = { kind, pod, query, url: await this.#urlOf(kind, pod, path, query) }
    if (this.#options.redirects) throw new HttpError(302, '', { location: this.#redirected.add(stream) })
    await connect(upgrade, stream)
  }

  /** The runtime's URL for a stream. Rejects with an HttpError with upstream's status. */
  async #urlOf(kind: string, pod: Pod, path: ContainerPath, query: URLSearchParams): Promise<string> {
    const url = await this.#runtimeUrl(kind, pod, path, query).catch((error) => {
      throw httpErrorOf(error)
    })
    if (!url) throw new HttpError(500, 'URL is not set')
    return url
  }

  async #runtimeUrl(kind: string, pod: Pod, { container }: ContainerPath, query: URLSearchParams): Promise<string> {
    const { runtime } = this.#options
    if (kind === 'portForward') {
      const sandbox = await readySandboxOf(runtime, pod)
      const { name, namespace } = pod.metadata
      if (!sandbox) throw new HttpError(500, `pod not found (${JSON.stringify(`${name}_${namespace}`)})`)
      return runtime.portForwardUrl(sandbox)
    }
    const { isTerminal: tty, ...streams } = requestedStreams(query)
    if (!streams.stdin && !streams.stdout && !streams.stderr)
      throw new HttpError(400, 'you must specify at least 1 of stdin, stdout, stderr')
    const containerId = await runningContainer(runtime, pod, container)
    if (!containerId) throw new HttpError(500, `container not found (${JSON.stringify(container)})`)
    const request = { containerId, tty, ...streams }
    return kind === 'attach'
      ? runtime.attachUrl(request)
      : runtime.execUrl({ ...request, cmd: query.getAll('command') })
  }
}

/** The answer for an error of the runtime, as upstream's. */
function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  const code = grpcCodeOf(error)
  if (code === 'NotFound') return new HttpError(404, messageOf(error))
  if (code === 'ResourceExhausted') return new HttpError(429, messageOf(error), { 'Retry-After': '60' })
  return new HttpError(500, messageOf(error))
}

/** Connects a client with the runtime's streaming server. */
async function connect(upgrade: Upgrade, { kind, pod, query, url }: RuntimeStream): Promise<void> {
  if (protocolOf(upgrade) === 'spdy') await passOn(upgrade, url)
  else if (kind === 'portForward') await forwardWebSocket(upgrade, query, pod, url)
  else
    await serveCommand(
      upgrade,
      requestedStreams(query),
      kind === 'exec' ? 'executing command in' : 'attaching to',
      (command) => commandThrough(url, command),
    )
}

async function passOn(upgrade: Upgrade, url: string): Promise<void> {
  await proxyUpgrade(upgrade, url).catch((error) => {
    throw new HttpError(500, messageOf(error))
  })
}

async function forwardWebSocket(upgrade: Upgrade, query: URLSearchParams, pod: Pod, url: string): Promise<void> {
  const server = await connectSpdy(url, ['portforward.k8s.io'])
  const { name = '', namespace = '', uid = '' } = pod.metadata
  try {
    await servePortForward(upgrade, query, { name, namespace, uid }, forwardThrough(server))
  } finally {
    server.close()
  }
}
