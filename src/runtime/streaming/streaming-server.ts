/** The server for exec, attach and port-forward, to which CRI's methods return URLs. It listens on loopback only. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { HttpError } from '../../node/http-error.ts'
import { sendUpgradeError } from '../../node/server/errors.ts'
import { servePortForward } from '../../node/streaming/port-forward/serve-port-forward.ts'
import type { RemoteCommand, RequestedStreams } from '../../node/streaming/remote-command/remote-command.ts'
import { serveCommand } from '../../node/streaming/remote-command/serve-command.ts'
import type { Upgrade } from '../../node/streaming/upgrade.ts'
import { Tokens } from './tokens.ts'

/** The other ends of streams. */
export interface StreamedContainers {
  /** Resolves with the exit code. */
  exec(containerId: string, words: readonly string[], command: RemoteCommand): Promise<number>
  attach(containerId: string, command: RemoteCommand): Promise<void>
  portForward(sandboxId: string, port: number, connection: Duplex): Promise<void>
}

interface CommandRequest {
  readonly kind: 'exec' | 'attach'
  readonly containerId: string
  readonly words: readonly string[]
  readonly streams: RequestedStreams
}

interface PortRequest {
  readonly kind: 'portforward'
  readonly sandboxId: string
}

export type StreamRequest = CommandRequest | PortRequest

export class StreamingServer {
  readonly #containers: StreamedContainers
  readonly #tokens = new Tokens<StreamRequest>()
  readonly #server: Server
  /** Connections that have become streams, which the HTTP server no longer knows. */
  readonly #streams = new Set<Duplex>()
  #base = ''

  constructor(containers: StreamedContainers) {
    this.#containers = containers
    this.#server = createServer((_, response) => response.writeHead(404).end('404 page not found\n'))
    this.#server.on('upgrade', (request, socket, head) => {
      this.#streams.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => this.#streams.delete(socket))
      this.#serve({ request, socket, head }).catch((error) => sendUpgradeError(socket, error))
    })
  }

  /** Listens on a port; 0 chooses a free one. */
  async start(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
    this.#base = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The URL that serves a request once, within a minute. */
  urlFor(request: StreamRequest): string {
    return `${this.#base}/${request.kind}/${this.#tokens.add(request)}`
  }

  stop(): void {
    for (const stream of this.#streams) stream.destroy()
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #serve(upgrade: Upgrade): Promise<void> {
    const { pathname, searchParams } = new URL(upgrade.request.url ?? '/', this.#base)
    const [, kind = '', token = ''] = pathname.split('/')
    const request = this.#tokens.take(token)
    if (!request || request.kind !== kind) throw new HttpError(404, '404 page not found\n')
    if (request.kind === 'portforward') {
      const pod = { namespace: '', name: request.sandboxId, uid: '' }
      await servePortForward(upgrade, searchParams, pod, (port, connection) =>
        this.#containers.portForward(request.sandboxId, port, connection),
      )
      return
    }
    const { containerId, words, streams } = request
    if (request.kind === 'exec')
      await serveCommand(upgrade, streams, 'executing command in', (command) =>
        this.#containers.exec(containerId, words, command),
      )
    else
      await serveCommand(upgrade, streams, 'attaching to', async (command) => {
        await this.#containers.attach(containerId, command)
        return 0
      })
  }
}
