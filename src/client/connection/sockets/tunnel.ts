/** Connects to a server through a proxy: HTTP (`CONNECT`, RFC 9110, 9.3.6) or SOCKS 5. */
import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { socksTunnel } from './socks-tunnel.ts'

/** Resolves with a connection to `host:port` through the proxy. Rejects with an Error that names both. */
export function tunnel(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const fail = (why: string): void => reject(new Error(`cannot reach ${place} through the proxy ${proxy.host}: ${why}`))
  if (/^socks5h?:$/.test(proxy.protocol)) {
    socksTunnel(proxy, host, port, timeoutMs).then(resolve, (error: Error) => fail(error.message))
    return promise
  }
  const send = proxy.protocol === 'https:' ? secureRequest : request
  if (proxy.protocol !== 'https:' && proxy.protocol !== 'http:')
    throw new Error(`the URL of a proxy must begin with http, https or socks5, not ${proxy.protocol}`)
  const user = proxy.username && `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const connectRequest = send({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: place,
    agent: false,
    timeout: timeoutMs,
    headers: { host: place, ...(user && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }) },
  })
  connectRequest.on('connect', ({ statusCode }, socket) => {
    if (statusCode === 200) return resolve(socket)
    socket.destroy()
    fail(`it answered ${statusCode}`)
  })
  connectRequest.on('timeout', () => connectRequest.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)))
  connectRequest.on('response', (response) => {
    response.destroy()
    fail(`it answered ${response.statusCode}`)
  })
  connectRequest.on('error', (error) => fail(error.message))
  connectRequest.end()
  return promise
}
