/** A way to a server through a proxy: by HTTP (`CONNECT`, RFC 9110, 9.3.6), or by SOCKS 5. */
import { request } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { socksTunnel } from './socks-tunnel.ts'

/** Resolves with a connection to `host:port` by way of the proxy. Rejects with an Error that names both. */
export function tunnel(proxy: URL, host: string, port: number, timeoutMs: number): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const fail = (why: string): void => reject(new Error(`the proxy ${proxy.host} gives no way to ${place}: ${why}`))
  if (/^socks5h?:$/.test(proxy.protocol)) {
    socksTunnel(proxy, host, port, timeoutMs).then(resolve, (error: Error) => fail(error.message))
    return promise
  }
  const send = proxy.protocol === 'https:' ? secureRequest : request
  if (proxy.protocol !== 'https:' && proxy.protocol !== 'http:')
    throw new Error(`a proxy is reached by http, https or socks5, not by ${proxy.protocol}`)
  const user = proxy.username && `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const asked = send({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: place,
    agent: false,
    timeout: timeoutMs,
    headers: { host: place, ...(user && { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` }) },
  })
  asked.on('connect', ({ statusCode }, socket) => {
    if (statusCode === 200) return resolve(socket)
    socket.destroy()
    fail(`it answered ${statusCode}`)
  })
  asked.on('timeout', () => asked.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)))
  asked.on('response', (response) => {
    response.destroy()
    fail(`it answered ${response.statusCode}`)
  })
  asked.on('error', (error) => fail(error.message))
  asked.end()
  return promise
}
