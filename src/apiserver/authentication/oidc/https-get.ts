/**
 * Fetches a document of an OpenID provider. The provider is not trusted: requests have a deadline and a size limit, and
 * redirects must not lead to other servers.
 */
import { type Agent, request } from 'node:https'
import { isIP } from 'node:net'
import { timerMs } from '../../../lib/flow/timer-ms.ts'
import { refuseUpgrade } from '../../../lib/refuse-upgrade.ts'
import { connectionError } from '../../outgoing/index.ts'

export interface GetOptions {
  readonly agent: Agent
  /** The total time limit in ms. */
  readonly timeoutMs: number
  /** The size limit in bytes. */
  readonly maxBytes: number
  readonly authorization?: string
}

const maxRedirects = 10

/**
 * Resolves with the body of a 2xx response. Rejects with an Error with the message of Go's client. Follows redirects
 * within the same origin only.
 */
export function httpsGet(url: string, options: GetOptions): Promise<string> {
  return get(new URL(url), options, performance.now() + options.timeoutMs, 0)
}

function get(url: URL, options: GetOptions, deadline: number, redirects: number): Promise<string> {
  const { agent, maxBytes, authorization } = options
  const fail = (why: string): Error => new Error(`Get ${JSON.stringify(url.href)}: ${why}`)
  const port = url.port || '443'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return new Promise((resolve, reject) => {
    if (url.protocol !== 'https:')
      return reject(fail(`unsupported protocol scheme ${JSON.stringify(url.protocol.slice(0, -1))}: only https is`))
    const sent = request({
      agent,
      host,
      port,
      servername: isIP(host) ? '' : host,
      path: url.pathname + url.search,
      headers: { accept: 'application/json', ...(authorization && { authorization }) },
    })
    const timer = setTimeout(
      () => {
        reject(fail('context deadline exceeded'))
        sent.destroy()
      },
      timerMs(deadline - performance.now()),
    )
    const refuse = (error: Error): void => {
      reject(error)
      sent.destroy()
    }
    refuseUpgrade(sent).on('close', () => clearTimeout(timer))
    sent.on('error', (error) => reject(fail(connectionError(error, `${host}:${port}`))))
    sent.on('response', (response) => {
      const { statusCode = 0, statusMessage = '', headers } = response
      if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
        response.destroy()
        const target = URL.parse(headers.location, url.href)
        if (target?.origin !== url.origin)
          return reject(fail(`redirect to another server is not allowed: ${JSON.stringify(headers.location)}`))
        if (redirects === maxRedirects) return reject(fail(`stopped after ${maxRedirects} redirects`))
        return resolve(get(target, options, deadline, redirects + 1))
      }
      const pieces: Buffer[] = []
      let size = 0
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        size += piece.length
        if (size > maxBytes) refuse(fail(`the answer is larger than ${maxBytes} bytes`))
      })
      response.on('error', (error) => reject(fail(connectionError(error, `${host}:${port}`))))
      response.on('end', () => {
        const body = Buffer.concat(pieces).toString()
        if (statusCode >= 200 && statusCode < 300) resolve(body)
        else reject(new Error(`${statusCode} ${statusMessage}: ${body.slice(0, 1024)}`))
      })
    })
    sent.end()
  })
}
