/** The HTTPS server of kubelets: logs and streams of containers, and documents about nodes. */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { type AccessOptions, type AccessRules, authenticate, authorize, strictRules } from './access.ts'
import { CallerReview, type ReviewTimes } from './callers.ts'
import { sendError, sendUpgradeError } from './errors.ts'
import { logOptions } from './log-options.ts'
import { sendLog } from './send-log.ts'
import { sendPage } from './send-page.ts'
import type { ContainerPath, ServedNodes } from './served-nodes.ts'
import { containerPathOf, type Target, targetOf } from './target.ts'

export interface KubeletServerOptions {
  readonly client: RestClient
  /** The address to listen on; port 0 is any free port. */
  readonly address: string
  readonly port: number
  /** Undefined before the first one: handshakes fail until it is set. */
  readonly tls: ServingCertificate | undefined
  /** A PEM bundle of CAs for client certificates; a function if it changes. */
  readonly clientCA: string | (() => string)
  /** Default: only authenticated and authorized clients. */
  readonly access?: AccessRules
  /** Default: those of a kubelet. */
  readonly reviewTimes?: ReviewTimes
  /** Default: TLS 1.2 and Node's ciphers. */
  readonly tlsLimits?: TlsLimits
  readonly nodes: ServedNodes
  /** The time of the containers' logs, in ms since 1970. Default: the machine's. */
  readonly now?: () => number
  /** Called with each request, and with its response or connection, which closes at its end. */
  readonly observe?: (request: IncomingMessage, until: EventEmitter) => void
}

/** The oldest version, and OpenSSL's list of ciphers. */
export type TlsLimits = Pick<SecureContextOptions, 'minVersion' | 'ciphers'>

/** PEM. */
export interface ServingCertificate {
  readonly cert: string
  readonly key: string
}

export class KubeletServer {
  readonly #options: KubeletServerOptions
  readonly #server: Server
  readonly #sockets = new Set<Duplex>()
  readonly #access: AccessOptions
  #tls: ServingCertificate | undefined
  /** The bundle that is sent to clients in handshakes. */
  #announced = ''

  constructor(options: KubeletServerOptions) {
    this.#options = options
    const { client, clientCA, access: rules = strictRules, reviewTimes } = options
    const bundle = typeof clientCA === 'string' ? () => clientCA : clientCA
    this.#tls = options.tls
    this.#access = { clientCA: bundle, review: new CallerReview(client, reviewTimes), rules }
    this.#server = createServer(
      { ...this.#tlsOptions(), requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        options.observe?.(request, response)
        this.#answer(request, response).catch((error) => sendError(response, error))
      },
    )
    this.#server.on('upgrade', (request, socket, head) => {
      options.observe?.(request, socket)
      this.#upgrade(request, socket, head).catch((error) => sendUpgradeError(socket, error))
    })
    // Before the handshake: clients choose a certificate by the CAs that they are sent.
    this.#server.prependListener('connection', () => {
      if (bundle() !== this.#announced) this.#server.setSecureContext(this.#tlsOptions())
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  /** Resolves with the port. Rejects if it cannot listen on the address. */
  async listen(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen(this.#options.port, this.#options.address, resolve)
    await promise
    this.#server.off('error', reject)
    return (this.#server.address() as AddressInfo).port
  }

  /** Replaces the serving certificate, for new connections. */
  setCertificate(tls: ServingCertificate): void {
    this.#tls = tls
    this.#server.setSecureContext(this.#tlsOptions())
  }

  /** Stops the server and all connections. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #tlsOptions() {
    this.#announced = this.#access.clientCA()
    const { cert, key } = this.#tls ?? {}
    return { ...this.#options.tlsLimits, cert, key, ca: this.#announced || [] }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = targetOf(request)
    const [kind = ''] = target.parts
    const { nodes } = this.#options
    if (kind === 'containerLogs') {
      const container = containerPathOf(target)
      await this.#admit(request, kind, container)
      await this.#sendLog(response, target, container)
      return
    }
    const nodeName = await this.#admit(request, kind, undefined)
    await sendPage(request, response, target, (page) => nodes.page(page, nodeName))
  }

  /** Resolves with the name of the node. Rejects with an HttpError if the client may not send the request. */
  async #admit(request: IncomingMessage, kind: string, pod: ContainerPath | undefined): Promise<string> {
    const caller = await authenticate(request, this.#access)
    const nodeName = this.#options.nodes.nodeOf(request, pod)
    await authorize(caller, request, kind, nodeName, this.#access)
    return nodeName
  }

  async #sendLog(response: ServerResponse, { query }: Target, container: ContainerPath): Promise<void> {
    const { nodes, now = Date.now } = this.#options
    const options = logOptions(query, now())
    const left = new AbortController()
    response.on('close', () => left.abort())
    await sendLog(response, await nodes.log(container, options, left.signal), options.limitBytes)
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const target = targetOf(request)
    const [kind = ''] = target.parts
    // Connections that a kubelet has redirected to itself name no pod.
    const container = kind === 'cri' ? undefined : containerPathOf(target)
    await this.#admit(request, kind, container)
    const path = container ?? { namespace: '', name: '', container: '' }
    await this.#options.nodes.stream({ request, socket, head }, kind, path, target.query)
  }
}
