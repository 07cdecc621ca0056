/**
 * The streams of exec and attach, over SPDY or WebSocket: input, output, errors, the exit status, and terminal sizes.
 * Negotiates the protocol; the content is up to the caller.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptOf, WebSocketConnection } from '../../../lib/websocket-connection.ts'
import { SpdyConnection, type SpdyStream } from './spdy-connection.ts'

export interface RemoteCommand {
  stdout(text: string): void
  stderr(text: string): void
  /** Calls `input` with data from the client, and `ended` at its end. */
  onInput(input: (chunk: Buffer) => void, ended: () => void): void
  onClose(callback: () => void): void
  /** Sends the exit status and closes the connection. */
  exit(code: number): void
}

/** The streams that the client requests in the query. */
interface RequestedStreams {
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
/** How long a client may take to open its streams, in ms. */
const openTimeoutMs = 30_000

/** The exit status in the format of protocol version 4. */
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

/** Accepts the client's upgrade. Resolves when its streams are open; undefined for an unsupported protocol. */
export async function acceptCommand(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  wanted: RequestedStreams,
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

/** The negotiated version: the first of the client's that we support. */
export const negotiate = (
  offered: string | readonly string[] | undefined,
  known: readonly string[],
): string | undefined => valuesOf(offered).find((version) => known.includes(version))

function overWebSocket(request: IncomingMessage, socket: Duplex, head: Buffer): RemoteCommand | undefined {
  const version = negotiate(request.headers['sec-websocket-protocol'], webSocketVersions)
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
    // Version 5 can close a channel.
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
      // Version 4 cannot signal the end of the input.
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
  wanted: RequestedStreams,
): Promise<RemoteCommand | undefined> {
  const version = negotiate(request.headers['x-stream-protocol-version'], spdyVersions)
  switchProtocols(socket, { Upgrade: 'SPDY/3.1', ...(version && { 'X-Stream-Protocol-Version': version }) })
  const streams = new Map<string, SpdyStream>()
  const needed = ['error', ...Object.entries(wanted).flatMap(([name, isWanted]) => (isWanted ? [name] : []))]
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const connection = new SpdyConnection(socket, head, (stream) => {
    streams.set(stream.headers.streamtype ?? '', stream)
    if (needed.every((name) => streams.has(name))) resolve(true)
  })
  connection.onClose(() => resolve(false))
  const late = setTimeout(() => resolve(false), openTimeoutMs)
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
      // Before version 4 the error stream contained plain text, empty for success.
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
