/**
 * Calls one webhook: sends a JSON document and returns the JSON document of the response. Nothing from the original
 * client's request is passed on. Errors have the messages of Go's client, which people search for.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { goDuration } from '../../../../lib/go/go-duration.ts'
import type { ServiceSources } from '../../index.ts'
import { MachineAgent } from '../../machine-agent.ts'
import { CallAttempt, type WebhookCall } from './call-attempt.ts'
import { type WebhookAddress, type WebhookConfig, webhookAddress } from './webhook-address.ts'

export interface WebhookClientOptions {
  readonly sources: ServiceSources
  /** The time limit for a whole call, in ms. */
  readonly timeoutMs: number
  /** The maximum size of a response, in bytes. */
  readonly maxBytes?: number
  /** The client certificate, and other TLS options of the connection. */
  readonly tls?: ConnectionOptions
  /** Returns the header `authorization` of a call. */
  readonly authorization?: () => Promise<string>
}

/** The caller's limits for a call. */
interface CallerLimits {
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal
  /** The time until which the caller waits, on the clock of `performance`, if known. */
  readonly deadline?: number
}

/** The webhook's configuration is invalid. */
export class WebhookClientError extends Error {}

/** In ms. Idle connections are closed after this, to avoid using one that the other side has just closed. */
const idleMs = 30_000
const defaultMaxBytes = 64 * 1024 * 1024
/** More calls wait for a free connection. */
const maxConnections = 64

export class WebhookClient {
  readonly #options: WebhookClientOptions
  readonly #config: WebhookConfig
  readonly #agent = new MachineAgent({
    keepAlive: true,
    timeout: idleMs,
    maxSockets: maxConnections,
    maxFreeSockets: 16,
  })
  #prepared: { readonly address: WebhookAddress; readonly tls: ConnectionOptions } | undefined

  constructor(config: WebhookConfig, options: WebhookClientOptions) {
    this.#config = config
    this.#options = options
  }

  /**
   * Resolves with the body of a successful response. Rejects with an Error with the reason; with a WebhookClientError
   * if the webhook could not be called at all.
   */
  async post(body: Buffer, caller?: CallerLimits): Promise<Buffer> {
    const { timeoutMs, maxBytes = defaultMaxBytes } = this.#options
    const now = performance.now()
    const deadline = now + timeoutMs
    const { address, tls } = this.#prepare()
    const url = new URL(address.url)
    url.searchParams.set('timeout', timeoutParameter(timeoutMs, (caller?.deadline ?? deadline) - now))
    const errorOf = (why: string): Error => new Error(`Post ${JSON.stringify(shown(address, url))}: ${why}`)
    const place = await address.dial().catch((error) => {
      throw errorOf(error instanceof Error ? error.message : String(error))
    })
    const authorization = await this.#options.authorization?.()
    const signal = caller?.signal
    return this.#send({ agent: this.#agent, place, tls, url, body, authorization, maxBytes, deadline, signal, errorOf })
  }

  /** Closes idle connections and reuses none. Calls in progress continue. */
  retire(): void {
    const agent = this.#agent
    agent.maxFreeSockets = 0
    for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy()
  }

  /** Ends all connections, and the calls on them. */
  stop(): void {
    this.#agent.destroy()
  }

  #prepare(): { readonly address: WebhookAddress; readonly tls: ConnectionOptions } {
    if (this.#prepared) return this.#prepared
    const { caBundle } = this.#config
    const ca = caBundle ? Buffer.from(caBundle, 'base64') : undefined
    if (ca) checkBundle(ca)
    const address = webhookAddress(this.#config, this.#options.sources)
    // An IP address cannot be sent as server name; it is verified nevertheless.
    const servername = isIP(address.serverName) ? '' : address.serverName
    return (this.#prepared = { address, tls: { servername, ...(ca && { ca }), ...this.#options.tls } })
  }

  /** Sends the call once more if the first attempt used a connection that was closed at the same moment. */
  #send(call: WebhookCall): Promise<Buffer> {
    const attempt = new CallAttempt(call)
    return attempt.send().catch((error: unknown) => {
      if (!attempt.usedClosedConnection) throw error
      return new CallAttempt(call).send()
    })
  }
}

/** The time limit of a call as Go's client sends it: in whole seconds if the caller waits less than `timeoutMs`. */
const timeoutParameter = (timeoutMs: number, remainingMs: number): string =>
  goDuration(remainingMs < timeoutMs ? Math.max(1, Math.ceil(remainingMs / 1000)) * 1000 : timeoutMs)

/** The URL in error messages, which always includes the port of a Service. */
const shown = ({ url: { port } }: WebhookAddress, { hostname, pathname, search, host }: URL): string =>
  `https://${hostname.endsWith('.svc') && !port ? `${hostname}:443` : host}${pathname}${search}`

function checkBundle(pem: Buffer): void {
  try {
    new X509Certificate(pem)
  } catch {
    throw new WebhookClientError('unable to load root certificates: unable to parse bytes as PEM block')
  }
}
