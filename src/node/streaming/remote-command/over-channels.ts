/** Remote commands over a WebSocket, whose channels are the streams. */
import type { ChannelFormat } from '../channels/channel-connection.ts'
import { acceptChannels, type Upgrade } from '../upgrade.ts'
import type { AcceptedCommand, RequestedStreams } from './remote-command.ts'
import { TerminalSizes } from './terminal-sizes.ts'

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

const binary: ChannelFormat = { isText: false, canEndChannels: false }
const base64: ChannelFormat = { isText: true, canEndChannels: false }
const formats: Readonly<Record<string, ChannelFormat>> = {
  '': binary,
  'channel.k8s.io': binary,
  'base64.channel.k8s.io': base64,
  'v4.channel.k8s.io': binary,
  'v4.base64.channel.k8s.io': base64,
  'v5.channel.k8s.io': { isText: false, canEndChannels: true },
}

/** Resolves with undefined if the client has left or its handshake is invalid. */
export async function commandOverChannels(
  upgrade: Upgrade,
  { stdin, stdout, stderr, isTerminal }: RequestedStreams,
): Promise<AcceptedCommand | undefined> {
  const accepted = await acceptChannels(upgrade, formats)
  if (!accepted) return undefined
  const { protocol, connection } = accepted
  const sizes = new TerminalSizes()
  sizes.read(connection.open(channels.resize))
  const command: AcceptedCommand = {
    stdin: stdin ? connection.open(channels.stdin) : undefined,
    stdout: stdout ? connection.openForWriting(channels.stdout) : undefined,
    stderr: stderr ? connection.openForWriting(channels.stderr) : undefined,
    error: connection.openForWriting(channels.error),
    isTerminal,
    canEndInput: connection.canEndChannels,
    hasPlainStatus: !/^v[45]\./.test(protocol),
    onResize: (callback) => sizes.onResize(callback),
    signal: connection.signal,
    close: () => connection.close(),
  }
  // The client waits for this sign.
  connection.announce(stdout ? channels.stdout : stderr ? channels.stderr : channels.error)
  connection.start()
  return command
}
