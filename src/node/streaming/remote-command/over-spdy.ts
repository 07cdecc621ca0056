/** Remote commands over SPDY/3.1: the client opens a stream for each of stdin, stdout, stderr, error and resize. */
import type { SpdyConnection } from '../spdy/spdy-connection.ts'
import type { SpdyStream } from '../spdy/spdy-stream.ts'
import { acceptSpdy, type Upgrade } from '../upgrade.ts'
import type { AcceptedCommand, RequestedStreams } from './remote-command.ts'
import { TerminalSizes } from './terminal-sizes.ts'

const versions = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io']
/** How long a client may take to open its streams, in ms. */
const openTimeoutMs = 30_000

/** Resolves when the client has opened its streams; with undefined if it does not. */
export async function commandOverSpdy(
  upgrade: Upgrade,
  { isTerminal, ...wanted }: RequestedStreams,
): Promise<AcceptedCommand | undefined> {
  const needed = ['error', ...Object.entries(wanted).flatMap(([name, isWanted]) => (isWanted ? [name] : []))]
  const streams = new Map<string, SpdyStream>()
  const sizes = new TerminalSizes()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { version, connection } = acceptSpdy(upgrade, versions, (stream) => {
    const type = stream.headers.streamtype ?? ''
    if (type === 'resize') sizes.read(stream)
    else if (!needed.includes(type) || streams.has(type)) stream.destroy()
    else streams.set(type, type === 'stdin' ? stream : stream.resume())
    if (streams.size === needed.length) resolve(true)
  })
  if (!(await openedInTime(promise, connection))) {
    upgrade.socket.destroy()
    return undefined
  }
  return {
    stdin: streams.get('stdin'),
    stdout: streams.get('stdout'),
    stderr: streams.get('stderr'),
    error: streams.get('error')!,
    isTerminal,
    canEndInput: true,
    hasPlainStatus: !/^v[45]\./.test(version),
    onResize: (callback) => sizes.onResize(callback),
    signal: connection.signal,
    close: () => connection.close(),
  }
}

/** Resolves with false if the client has left, or has taken too long. */
async function openedInTime(opened: Promise<boolean>, { signal }: SpdyConnection): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const fail = (): void => resolve(false)
  signal.addEventListener('abort', fail)
  if (signal.aborted) fail()
  const late = setTimeout(fail, openTimeoutMs)
  const isOpen = await Promise.race([opened, promise])
  clearTimeout(late)
  signal.removeEventListener('abort', fail)
  return isOpen
}
