/** Sends the request of an `httpGet`: a connection of its own, no verification of certificates, few redirects. */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { closeSocket, resetSocket } from '../close-socket.ts'
import { exchangeMessage } from '../network-error.ts'
import { maxOutputBytes, ProbeError } from '../outcome.ts'
import { joinHostPort } from '../port.ts'
import { type HttpGetRequest, urlOf } from './http-request.ts'

export interface HttpAnswer {
  readonly status: number
  /** At most 10 KB. */
  readonly body: string
}

/** The request has failed. The message is that of Go's client: `Get "http://…": …`. */
export class HttpGetError extends Error {
  /** The message without the URL. */
  readonly reason: string

  constructor(url: string, reason: string) {
    super(`Get ${JSON.stringify(url)}: ${reason}`)
    this.reason = reason
  }
}

const maxRedirects = 10

/**
 * Resolves with the last answer: redirects to another host are not followed. Rejects with a HttpGetError, or with a
 * ProbeError if the body could not be read. `timeoutMs` limits the whole exchange.
 */
export async function sendHttpGet(first: HttpGetRequest, timeoutMs?: number): Promise<HttpAnswer> {
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  let request = first
  for (let sent = 1; ; sent++) {
    const answer = await exchange(request, timeout)
    const next = redirectOf(request, answer)
    if (!next || next.host !== first.host) return answer
    if (sent >= maxRedirects) throw new HttpGetError(next.path, `stopped after ${maxRedirects} redirects`)
    request = next
  }
}

interface Answer extends HttpAnswer {
  readonly location: string | undefined
}

const headersLimit = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
const bodyLimit = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)'

function exchange(request: HttpGetRequest, timeout: AbortSignal | undefined): Promise<Answer> {
  const { scheme, host, port, path, hostHeader, headers } = request
  return new Promise((resolve, reject) => {
    const options = {
      host,
      port,
      path,
      headers: ['Host', hostHeader, ...headers.flat(), 'Connection', 'close'],
      agent: false as const,
      setHost: false,
      rejectUnauthorized: false,
      // Names of hosts only: an address is not allowed there.
      ...(/^[\d.]+$|:/.test(host) ? { servername: '' } : {}),
    }
    const fail = (reason: string): void => reject(new HttpGetError(urlOf(request), reason))
    try {
      const sent = (scheme === 'https' ? requestHttps : requestHttp)(options)
      const abort = (): void => {
        if (sent.socket) resetSocket(sent.socket)
        sent.destroy()
        fail(headersLimit)
      }
      timeout?.addEventListener('abort', abort, { once: true })
      if (timeout?.aborted) abort()
      let isAnswered = false
      sent.on('error', (error) => {
        // Errors of the body are those of its reader.
        if (isAnswered) return
        timeout?.removeEventListener('abort', abort)
        fail(exchangeMessage(error, joinHostPort(host, port)))
      })
      sent.on('response', (response) => {
        isAnswered = true
        timeout?.removeEventListener('abort', abort)
        readAnswer(response, timeout).then(resolve, reject)
      })
      sent.end()
    } catch (error) {
      // Node refuses headers and paths with characters that cannot be sent.
      fail((error as Error).message)
    }
  })
}

async function readAnswer(response: IncomingMessage, timeout: AbortSignal | undefined): Promise<Answer> {
  const { statusCode: status = 0, headers, socket } = response
  const abort = (): void => {
    response.destroy(new Error(bodyLimit))
    resetSocket(socket)
  }
  timeout?.addEventListener('abort', abort, { once: true })
  if (timeout?.aborted) abort()
  // Node would only half-close it, and leave it to the kernel for a minute.
  socket.destroySoon = () => closeSocket(socket)
  try {
    return { status, body: await readBody(response), location: headers.location }
  } catch (error) {
    throw new ProbeError(
      (error as Error).message === 'aborted' ? 'unexpected EOF' : (error as Error).message,
      'failure',
    )
  } finally {
    timeout?.removeEventListener('abort', abort)
    closeSocket(socket)
  }
}

/** Reads the beginning of a body. */
async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= maxOutputBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxOutputBytes).toString()
}

const redirectCodes = new Set([301, 302, 303, 307, 308])

/** The request that follows a redirect; undefined for an answer that is none. */
function redirectOf(request: HttpGetRequest, { status, location }: Answer): HttpGetRequest | undefined {
  if (!redirectCodes.has(status) || !location) return undefined
  const base = urlOf(request)
  if (!URL.canParse(location, base)) return undefined
  const url = new URL(location, base)
  const isRelative = !/^([a-z][a-z0-9+.-]*:)?\/\//i.test(location)
  const scheme = url.protocol === 'https:' ? 'https' : 'http'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port) || (scheme === 'https' ? 443 : 80)
  return {
    scheme,
    host,
    port,
    path: `${url.pathname}${url.search}`,
    hostHeader: isRelative ? request.hostHeader : url.host,
    headers: request.headers.filter(([name]) => name !== 'Referer').concat(refererOf(base, scheme)),
  }
}

/** The address of an encrypted page is not sent without encryption. */
const refererOf = (url: string, scheme: string): (readonly [string, string])[] =>
  url.startsWith('https:') && scheme === 'http' ? [] : [['Referer', url]]
