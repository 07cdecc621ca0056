/**
 * Reads a document of an OpenID provider. The provider is a stranger: it gets a deadline, a bound, and no say in where
 * else we go.
 */
import { type Agent, request } from 'node:https'
import { isIP } from 'node:net'
import { timerMs } from '../../../lib/flow/timer-ms.ts'
import { refuseUpgrade } from '../../../lib/refuse-upgrade.ts'
import { connectionError } from '../../outgoing/index.ts'

export interface GetOptions {
  readonly agent: Agent
  /** How long it may take as a whole, ms. */
  readonly timeoutMs: number
  /** Larger documents are not taken. Bytes. */
  readonly mostBytes: number
  readonly authorization?: string
}

const mostRedirects = 10

/**
 * Resolves with the body of a good answer. Rejects with an Error in the words of Go's client. Redirects are followed
 * within the same origin only.
 */
export function httpsGet(url: string, options: GetOptions): Promise<string> {
  return get(new URL(url), options, performance.now() + options.timeoutMs, 0)
}

function get(url: URL, options: GetOptions, deadline: number, redirects: number): Promise<string> {
  const { agent, mostBytes, authorization } = options
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
          return reject(fail(`it redirects to another server, ${JSON.stringify(headers.location)}, which is not asked`))
        if (redirects === mostRedirects) return reject(fail(`stopped after ${mostRedirects} redirects`))
        return resolve(get(target, options, deadline, redirects + 1))
      }
      const pieces: Buffer[] = []
      let size = 0
      response.on('data', (piece: Buffer) => {
        pieces.push(piece)
        size += piece.length
        if (size > mostBytes) refuse(fail(`the answer is larger than ${mostBytes} bytes`))
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
