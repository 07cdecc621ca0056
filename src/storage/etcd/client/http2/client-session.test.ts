import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ClientSession } from './client-session.ts'
import type { ClientStream, StreamEnd } from './client-stream.ts'

const streamWindow = 0x1_0000
const sessionWindow = 0x10_0000
const opening =
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n').toString('hex') +
  // SETTINGS: ENABLE_PUSH 0, INITIAL_WINDOW_SIZE 65,536
  '00000c040000000000' +
  '000200000000' +
  '000400010000' +
  // WINDOW_UPDATE of the connection, by 983,041
  '000004080000000000' +
  '000f0001'

const number = (value: number, bytes = 4): string => value.toString(16).padStart(2 * bytes, '0')

/** A frame in hexadecimal digits. */
const frame = (type: number, flag: number, streamId: number, payload = ''): string =>
  number(payload.length / 2, 3) + number(type, 1) + number(flag, 1) + number(streamId) + payload

const data = (streamId: number, payload: string, flag = 0) => frame(0, flag, streamId, payload)
const headers = (streamId: number, block: string, flag = 4) => frame(1, flag, streamId, block)
const reset = (streamId: number, code: number) => frame(3, 0, streamId, number(code))
const settings = (...values: readonly string[]) => frame(4, 0, 0, values.join(''))
const maxStreams = (value: number) => `0003${number(value)}`
const initialWindow = (value: number) => `0004${number(value)}`
const goAway = (last: number, code: number, reason = '') =>
  frame(7, 0, 0, number(last) + number(code) + Buffer.from(reason).toString('hex'))
const windowUpdate = (streamId: number, bytes: number) => frame(8, 0, streamId, number(bytes))
const settingsAck = frame(4, 1, 0)
/** `:status: 200`, and `grpc-status: 0` as a literal. */
const [ok, trailers] = ['88', `000b${Buffer.from('grpc-status').toString('hex')}0130`]

class Wire extends Duplex {
  writes: string[] = []
  override _read(): void {}
  override _write(bytes: Buffer, _: string, done: () => void): void {
    this.writes.push(bytes.toString('hex'))
    done()
  }
}

interface Recorded {
  readonly stream: ClientStream
  readonly log: unknown[]
}

/** A session whose peer has sent settings. */
async function startSession(first = settings()) {
  const wire = new Wire()
  const closed: (Error | undefined)[] = []
  const session = new ClientSession({
    socket: wire,
    streamWindow,
    sessionWindow,
    settings: () => {},
    closed: (error) => closed.push(error),
  })
  session.start()
  /** Returns what was written since the last call, write by write. */
  const written = async (): Promise<string[]> => {
    for (let i = 0; i < 3; i++) await nextTurn()
    return wire.writes.splice(0)
  }
  const receive = async (...frames: readonly string[]): Promise<string> => {
    wire.push(Buffer.from(frames.join(''), 'hex'))
    return (await written()).join('')
  }
  const request = (): Recorded => {
    const log: unknown[] = []
    const stream = session.request(Buffer.from('83', 'hex'), {
      headers: (received) => log.push(Object.fromEntries(received)),
      data: (chunk) => log.push(chunk.toString('hex')),
      closed: (end) => log.push(end),
    })
    return { stream, log }
  }
  assert.deepEqual(await written(), [opening])
  if (first) assert.equal(await receive(first), settingsAck)
  return { wire, session, closed, written, receive, request }
}

const ended = (mayHaveRun: boolean, cause?: Error): StreamEnd => ({ mayHaveRun, cause })

test('the requests of a turn of the event loop leave in one write', async () => {
  const { request, written } = await startSession()
  request().stream.finish(Buffer.from('abcd', 'hex'))
  request().stream.send(Buffer.from('ef', 'hex'))
  assert.deepEqual(await written(), [headers(1, '83') + data(1, 'abcd', 1) + headers(3, '83') + data(3, 'ef')])
})

test('an answer arrives as headers, data and trailers', async () => {
  const { request, receive } = await startSession()
  const { stream, log } = request()
  stream.finish(Buffer.of(1))
  await receive(headers(1, ok), data(1, 'abcd'), data(1, 'ef'), headers(1, trailers, 5))
  assert.deepEqual(log, [{ ':status': '200' }, 'abcd', 'ef', { 'grpc-status': '0' }, { mayHaveRun: true }])
})

test('frames are found whatever chunks the bytes arrive in', async () => {
  const { request, receive } = await startSession()
  const { stream, log } = request()
  stream.finish()
  const bytes = headers(1, ok) + data(1, 'abcd') + headers(1, trailers, 5)
  for (let i = 0; i < bytes.length; i += 2) await receive(bytes.slice(i, i + 2))
  assert.deepEqual(log, [{ ':status': '200' }, 'abcd', { 'grpc-status': '0' }, { mayHaveRun: true }])
})

test('padding, priorities and unknown frames are ignored, and headers may continue in other frames', async () => {
  const { request, receive } = await startSession()
  const { stream, log } = request()
  stream.finish()
  await receive(
    frame(0xbe, 0, 1, 'ff'),
    frame(2, 0, 1, '0000000000'),
    headers(1, `02${'0000000010'}${ok}0000`, 0x2c),
    data(1, '01abcd00', 8),
    headers(1, trailers.slice(0, 6), 1),
    frame(9, 0, 1, trailers.slice(6, 10)),
    frame(9, 4, 1, trailers.slice(10)),
  )
  assert.deepEqual(log, [{ ':status': '200' }, 'abcd', { 'grpc-status': '0' }, { mayHaveRun: true }])
})

test('data waits for both windows, and is split into frames', async () => {
  const { request, receive, written } = await startSession()
  const { stream } = request()
  stream.finish(Buffer.alloc(70_000))
  const zeros = (bytes: number): string => '00'.repeat(bytes)
  const full = data(1, zeros(16_384))
  assert.equal((await written()).join(''), headers(1, '83') + full + full + full + data(1, zeros(16_383)))
  assert.equal(await receive(windowUpdate(0, 100_000)), '')
  assert.equal(await receive(windowUpdate(1, 4_000)), data(1, zeros(4_000)))
  assert.equal(await receive(windowUpdate(1, 465)), data(1, zeros(465), 1))
})

test('data of all streams waits for the window of the connection', async () => {
  const { request, receive, written } = await startSession(settings(initialWindow(100_000)))
  const [first, second] = [request(), request()]
  first.stream.send(Buffer.alloc(65_535))
  second.stream.finish(Buffer.from('ab', 'hex'))
  assert.ok(!(await written()).join('').includes(data(3, 'ab', 1)))
  assert.equal(await receive(windowUpdate(0, 1)), data(3, 'ab', 1))
})

test('a change of the initial window changes the windows of open streams', async () => {
  const { request, receive, written } = await startSession(settings(initialWindow(2)))
  request().stream.finish(Buffer.from('010203', 'hex'))
  assert.equal((await written()).join(''), headers(1, '83') + data(1, '0102'))
  assert.equal(await receive(settings(initialWindow(0))), settingsAck)
  assert.equal(await receive(windowUpdate(1, 2)), '')
  assert.equal(await receive(settings(initialWindow(1))), data(1, '03', 1) + settingsAck)
})

test('the end of a request without data is an empty frame', async () => {
  const { request, written } = await startSession()
  const { stream } = request()
  stream.send(Buffer.from('ab', 'hex'))
  await written()
  stream.finish()
  assert.deepEqual(await written(), [data(1, '', 1)])
})

test('more streams than the peer permits wait for the end of others', async () => {
  const { request, receive, written } = await startSession(settings(maxStreams(1)))
  const [first, second, third] = [request(), request(), request()]
  for (const { stream } of [first, second, third]) stream.finish(Buffer.of(1))
  assert.deepEqual(await written(), [headers(1, '83') + data(1, '01', 1)])
  second.stream.cancel()
  assert.equal(await receive(headers(1, trailers, 5)), headers(3, '83') + data(3, '01', 1))
  assert.deepEqual(second.log, [])
  const fourth = request()
  fourth.stream.finish()
  assert.equal(await receive(settings(maxStreams(2))), settingsAck + headers(5, '83') + data(5, '', 1))
})

test('received data is credited once half of a window has been processed', async () => {
  const { request, receive } = await startSession()
  const { stream } = request()
  stream.finish()
  const part = data(1, '00'.repeat(16_384))
  assert.ok(!(await receive(part)).includes(windowUpdate(1, 16_384)))
  assert.equal(await receive(part), windowUpdate(1, 32_768))
})

test('a paused stream holds data, its credit and its end', async () => {
  const { request, receive, written } = await startSession()
  const { stream, log } = request()
  stream.finish()
  stream.pause()
  const part = '00'.repeat(16_384)
  await receive(data(1, part), data(1, part), data(1, 'ab'), headers(1, trailers, 5))
  assert.deepEqual(log, [{ 'grpc-status': '0' }])
  stream.resume()
  assert.deepEqual(log.slice(1), [part, part, 'ab', { mayHaveRun: true }])
  await written()
})

test('a stream that is paused again during its data goes on later', async () => {
  const { request, receive } = await startSession()
  const log: string[] = []
  const { stream } = request()
  stream.pause()
  await receive(data(1, 'aa'), data(1, 'bb'))
  const { events } = stream
  events.data = (chunk) => {
    log.push(chunk.toString('hex'))
    stream.pause()
  }
  stream.resume()
  assert.deepEqual(log, ['aa'])
  stream.resume()
  assert.deepEqual(log, ['aa', 'bb'])
})

test('a stream that the peer refuses has not run; other resets may have', async () => {
  const { request, receive } = await startSession()
  const [refused, cancelled] = [request(), request()]
  await receive(reset(1, 7), reset(3, 8))
  assert.deepEqual([refused.log, cancelled.log], [[{ mayHaveRun: false }], [{ mayHaveRun: true }]])
})

test('a cancelled stream is reset, and what arrives for it is ignored', async () => {
  const { request, receive, written } = await startSession()
  const { stream, log } = request()
  await written()
  stream.cancel()
  assert.deepEqual(await written(), [reset(1, 8)])
  assert.equal(await receive(data(1, 'ab'), windowUpdate(1, 1), headers(1, trailers, 5), reset(1, 8)), '')
  assert.deepEqual(log, [])
})

test('an answer before the end of the request ends the stream on both sides', async () => {
  const { request, receive, written } = await startSession()
  const { log } = request()
  await written()
  assert.equal(await receive(headers(1, trailers, 5)), reset(1, 8))
  assert.deepEqual(log.at(-1), { mayHaveRun: true })
})

test('pings are answered, and answers are reported', async () => {
  const { session, receive, written } = await startSession()
  assert.equal(await receive(frame(6, 0, 0, '0102030405060708')), frame(6, 1, 0, '0102030405060708'))
  let answers = 0
  session.ping(() => answers++)
  assert.deepEqual(await written(), [frame(6, 0, 0, '00'.repeat(8))])
  await receive(frame(6, 1, 0, '00'.repeat(8)))
  assert.equal(answers, 1)
})

test('a peer that goes away finishes the streams that it knows; later ones have not run', async () => {
  const { session, request, receive, closed } = await startSession(settings(maxStreams(2)))
  const [first, second, queued] = [request(), request(), request()]
  await receive(goAway(1, 0))
  assert.equal(session.isClosing, true)
  assert.deepEqual([first.log, second.log, queued.log], [[], [ended(false)], [ended(false)]])
  await receive(headers(1, trailers, 5))
  assert.deepEqual(first.log.at(-1), { mayHaveRun: true })
  assert.deepEqual(closed, [undefined])
})

test('the reason of a peer that goes away is the error of the connection', async () => {
  const { receive, closed } = await startSession()
  await receive(goAway(0, 11, 'too_many_pings'))
  assert.match(String(closed[0]), /the connection was ended: too_many_pings/)
})

test('a lost connection ends all streams; those that wait have not run', async () => {
  const { wire, request, closed, written } = await startSession(settings(maxStreams(1)))
  const [first, queued] = [request(), request()]
  const error = new Error('ECONNRESET')
  wire.destroy(error)
  await written()
  assert.deepEqual([first.log, queued.log], [[ended(true, error)], [ended(false, error)]])
  assert.deepEqual(closed, [error])
})

test('a session that closes lets its streams finish', async () => {
  const { session, request, receive, closed } = await startSession()
  const { stream, log } = request()
  stream.finish()
  session.close()
  assert.match(await receive(headers(1, trailers, 5)), new RegExp(`${goAway(0, 0)}$`))
  assert.deepEqual(log.at(-1), { mayHaveRun: true })
  assert.deepEqual(closed, [undefined])
})

const violations: Readonly<Record<string, readonly [frames: string, code: number]>> = {
  'a frame that is too large': ['004001000000000001', 6],
  'data of a stream that was not opened': [data(5, 'ab'), 1],
  'data of the connection': [data(0, 'ab'), 1],
  'headers that are interrupted': [headers(1, ok, 0) + data(1, 'ab'), 1],
  'a continuation without beginning': [frame(9, 4, 1, ok), 1],
  'more padding than bytes': [data(1, '05ab', 8), 1],
  'headers without code': [headers(1, 'ff'), 9],
  'a pushed promise': [frame(5, 4, 1, '0000000282'), 1],
  'incomplete settings': [frame(4, 0, 0, '0003'), 6],
  'a ping of another size': [frame(6, 0, 0, '01'), 6],
  'an initial window that is too large': [settings(initialWindow(2 ** 31)), 3],
  'a window of the connection that is too large': [windowUpdate(0, 2 ** 31 - 1), 3],
  'a window of a stream that is too large': [windowUpdate(1, 2 ** 31 - 1), 3],
  'more data than a window permits': [data(1, '00'.repeat(16_384)).repeat(5), 3],
}
for (const [name, [frames, code]] of Object.entries(violations))
  test(`${name} ends the connection`, async () => {
    const { request, receive, closed } = await startSession()
    const { stream, log } = request()
    stream.pause()
    assert.ok((await receive(frames)).endsWith(goAway(0, code)))
    assert.equal(closed.length, 1)
    assert.equal(closed[0]?.name, 'Http2Error')
    stream.resume()
    assert.deepEqual(log.at(-1), ended(true, closed[0]))
  })

test('a peer that does not speak HTTP/2 ends the connection', async () => {
  const { receive, closed } = await startSession('')
  await receive(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n').toString('hex'))
  assert.equal(closed[0]?.name, 'Http2Error')
})
