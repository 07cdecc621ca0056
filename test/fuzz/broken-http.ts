/**
 * Broken HTTP/1.1 and HTTP/2, written as raw bytes. Whatever the server receives, it must neither crash nor keep the
 * connection open forever.
 */
import { connect } from 'node:tls'
import type { Random } from './random.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const bytes = (r: Random, most: number): Buffer => Buffer.from(r.some(most, () => r.below(256)))

/** Literal headers without Huffman coding (RFC 7541, 6.2.2). */
const headerBlock = (fields: readonly (readonly [string, string])[]): Buffer =>
  Buffer.concat(
    fields.map(([name, value]) =>
      Buffer.concat([
        Buffer.from([0, Math.min(name.length, 126)]),
        Buffer.from(name.slice(0, 126), 'latin1'),
        Buffer.from([Math.min(value.length, 126)]),
        Buffer.from(value.slice(0, 126), 'latin1'),
      ]),
    ),
  )

function http2(r: Random): Buffer {
  const frames = r.some(12, () => {
    const stream = r.pick([0, 1, 1, 3, 5, 2, 2147483647])
    return r.one(
      () => frame(r.below(12), r.below(256), stream, bytes(r, 40)),
      () => frame(4, r.below(2), 0, bytes(r, 5)),
      () =>
        frame(
          1,
          r.pick([4, 5, 0x2c]),
          stream,
          headerBlock([
            [':method', r.pick(['GET', 'POST', '', 'CONNECT'])],
            [':path', r.pick(['/api/v1/pods', '', '*', '/version'])],
            [':scheme', 'https'],
            [':authority', 'x'],
            ['authorization', 'Bearer fuzz'],
            [
              r.pick(['content-length', 'Upper', 'te', ':status', 'connection', 'x']),
              r.pick(['5', '-1', '', 'trailers']),
            ],
          ]),
        ),
      () => frame(1, r.below(256), stream, bytes(r, 60)),
      () => frame(0, r.below(2), stream, bytes(r, 100)),
      () => frame(3, 0, stream, Buffer.from([0, 0, 0, r.below(14)])),
      () => frame(8, 0, stream, Buffer.from([r.below(256), 0, 0, r.below(256)])),
      () => frame(6, 0, 0, Buffer.alloc(8)),
      () => frame(9, r.below(5), stream, bytes(r, 30)),
      () => frame(7, 0, 0, Buffer.alloc(8)),
    )
  })
  const sent = [
    r.chance(0.95) ? preface : bytes(r, 24),
    r.chance(0.9) ? frame(4, 0, 0, Buffer.alloc(0)) : bytes(r, 9),
    ...frames,
  ]
  return Buffer.concat(sent)
}

function http1(r: Random): Buffer {
  const method = r.pick(['GET', 'POST', 'PUT', 'CONNECT', 'PRI', 'get', 'G\0T', ''])
  const target = r.pick([
    '/api/v1/pods',
    '*',
    '',
    'https://x/api',
    '/\xff',
    `/${'a'.repeat(20_000)}`,
    '/a b',
    '/version',
  ])
  const version = r.pick(['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1\n', ''])
  const fields = r.some(5, () =>
    r.pick([
      'Host: x',
      'Content-Length: 5',
      'Content-Length: -5',
      'Content-Length: 5, 6',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: x, chunked',
      'Authorization: Bearer fuzz',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Expect: 100-continue',
      'Expect: x',
      ': x',
      'a',
      ' folded',
      'A: \0',
      `A: ${'b'.repeat(9000)}`,
      'Content-Type: application/json',
    ]),
  )
  const body = r.pick(['', '{}', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\n', 'fffffffff\r\n', '{"metadata":'])
  return r.chance(0.2)
    ? bytes(r, 300)
    : Buffer.from(
        `${method} ${target} ${version}\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`,
        'latin1',
      )
}

/**
 * Sends broken bytes and waits until the server closes the connection, at most 100 ms. Resolves to the problem of the
 * answer, or undefined.
 */
export function sendBroken(r: Random, port: number): Promise<string | undefined> {
  const isHttp2 = r.chance(0.5)
  const data = isHttp2 ? http2(r) : http1(r)
  return new Promise((resolve) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ALPNProtocols: [isHttp2 ? 'h2' : 'http/1.1'],
    })
    const chunks: Buffer[] = []
    const done = (): void => {
      clearTimeout(timer)
      socket.destroy()
      const text = Buffer.concat(chunks).toString('latin1')
      resolve(
        !isHttp2 && text !== '' && !/^HTTP\/1\.1 ([1234]\d\d|501) /.test(text)
          ? `${JSON.stringify(data.toString('latin1'))} was answered with ${text.slice(0, 200)}`
          : undefined,
      )
    }
    const timer = setTimeout(done, 100)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', done)
    socket.on('close', done)
    socket.on('secureConnect', () => socket.write(data))
  })
}
