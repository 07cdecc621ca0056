/**
 * The streams of exec and attach, over SPDY or over a WebSocket: input, output, errors, what became of it, and the size
 * of the terminal. Which protocol is spoken is settled here; what is said is somebody else's.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptOf, WebSocketConnection } from '../../../lib/websocket-connection.ts'
import { SpdyConnection, type SpdyStream } from './spdy-connection.ts'

export interface RemoteCommand {
  stdout(text: string): void
  stderr(text: string): void
  /** What the client has written, as far as it comes. */
  onInput(input: (chunk: Buffer) => void, ended: () => void): void
  onClose(callback: () => void): void
  /** Says how it ended, and ends it. */
  exit(code: number): void
}

/** Which streams the client wants, as the query says. */
interface WantedStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
}

const spdyVersions = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
]
const webSocketVersions = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
/** A client that does not begin its streams is given up after this, in ms. */
const beginMs = 30_000

/** How a command ended, in the words of the protocol's fourth version. */
export const exitStatus = (code: number): object =>
  code === 0
    ? { metadata: {}, status: 'Success' }
    : {
        metadata: {},
        status: 'Failure',
        message: `command terminated with non-zero exit code: exit status ${code}`,
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: `${code}` }] },
      }

/**
 * Accepts the client's upgrade; resolves when its streams are there, undefined for a protocol that is not spoken here.
 */
export async function acceptCommand(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  wanted: WantedStreams,
): Promise<RemoteCommand | undefined> {
  const protocol = request.headers.upgrade?.toLowerCase()
  if (protocol === 'websocket') return overWebSocket(request, socket, head)
  if (protocol?.startsWith('spdy/3.1')) return overSpdy(request, socket, head, wanted)
  return undefined
}

const valuesOf = (header: string | readonly string[] | undefined): string[] =>
  [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')

export function switchProtocols(socket: Duplex, headers: Readonly<Record<string, string>>): void {
  const lines = Object.entries({ Connection: 'Upgrade', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
}

/** The version that is spoken: the first that the client names and we know. */
export const settled = (
  offered: string | readonly string[] | undefined,
  known: readonly string[],
): string | undefined => valuesOf(offered).find((version) => known.includes(version))

function overWebSocket(request: IncomingMessage, socket: Duplex, head: Buffer): RemoteCommand | undefined {
  const version = settled(request.headers['sec-websocket-protocol'], webSocketVersions)
  const key = request.headers['sec-websocket-key']
  if (!version || !key) return undefined
  switchProtocols(socket, {
    Upgrade: 'websocket',
    'Sec-WebSocket-Accept': acceptOf(key),
    'Sec-WebSocket-Protocol': version,
  })
  let input: (chunk: Buffer) => void = () => {}
  let inputEnded: () => void = () => {}
  const connection = new WebSocketConnection(socket, head, (data) => {
    if (data[0] === channels.stdin) input(data.subarray(1))
    // The fifth version can say that a channel is over.
    else if (data[0] === closeChannel && data[1] === channels.stdin) inputEnded()
  })
  const send = (channel: number, text: string): void =>
    connection.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))
  return {
    stdout: (text) => send(channels.stdout, text),
    stderr: (text) => send(channels.stderr, text),
    onInput(data, ended) {
      input = data
      inputEnded = ended
      // The fourth version cannot say that the input is over.
      if (version === 'v4.channel.k8s.io') ended()
    },
    onClose: (callback) => connection.onClose(callback),
    exit(code) {
      send(channels.error, JSON.stringify(exitStatus(code)))
      connection.close()
    },
  }
}

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3 } as const
const closeChannel = 255

async function overSpdy(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  wanted: WantedStreams,
): Promise<RemoteCommand | undefined> {
  const version = settled(request.headers['x-stream-protocol-version'], spdyVersions)
  switchProtocols(socket, { Upgrade: 'SPDY/3.1', ...(version && { 'X-Stream-Protocol-Version': version }) })
  const streams = new Map<string, SpdyStream>()
  const needed = ['error', ...Object.entries(wanted).flatMap(([name, isWanted]) => (isWanted ? [name] : []))]
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const connection = new SpdyConnection(socket, head, (stream) => {
    streams.set(stream.headers.streamtype ?? '', stream)
    if (needed.every((name) => streams.has(name))) resolve(true)
  })
  connection.onClose(() => resolve(false))
  const late = setTimeout(() => resolve(false), beginMs)
  const isReady = await promise
  clearTimeout(late)
  if (!isReady) {
    socket.destroy()
    return undefined
  }
  return {
    stdout: (text) => streams.get('stdout')?.write(text),
    stderr: (text) => (streams.get('stderr') ?? streams.get('stdout'))?.write(text),
    onInput(data, ended) {
      const stdin = streams.get('stdin')
      if (stdin) stdin.listen(data, ended)
      else ended()
    },
    onClose: (callback) => connection.onClose(callback),
    exit(code) {
      // Before the fourth version the stream said what was wrong, in words, and nothing if all was well.
      const isPlain = version !== 'v4.channel.k8s.io' && version !== 'v5.channel.k8s.io'
      const text = isPlain
        ? code === 0
          ? ''
          : `command terminated with exit code ${code}`
        : JSON.stringify(exitStatus(code))
      const error = streams.get('error')
      if (text) error?.write(text)
      for (const name of ['stdout', 'stderr', 'error']) streams.get(name)?.end()
      connection.close()
    },
  }
}
