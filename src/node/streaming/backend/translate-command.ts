/**
 * Runs a client's remote command through a streaming server over SPDY, whatever protocol the client speaks: runtimes
 * know fewer protocols than clients.
 */

import { text } from 'node:stream/consumers'
import { finished, pipeline } from 'node:stream/promises'
import { messageOf } from '../../../lib/message-of.ts'
import { own } from '../../../lib/own.ts'
import type { ExitStatus } from '../remote-command/exit-status.ts'
import type { RemoteCommand } from '../remote-command/remote-command.ts'
import { connectSpdy } from '../spdy/connect-spdy.ts'
import type { SpdyStream } from '../spdy/spdy-stream.ts'

const versions = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

/** Resolves with the exit status that the server reports. Rejects if the connection fails before there is one. */
export async function commandThrough(url: string, command: RemoteCommand): Promise<ExitStatus> {
  const connection = await connectSpdy(url, versions)
  const open = (streamtype: string): SpdyStream => connection.open({ streamtype })
  const leave = (): void => connection.close()
  command.signal.addEventListener('abort', leave, { once: true })
  if (command.signal.aborted) leave()
  try {
    const error = open('error')
    error.end()
    const { stdin, stdout, stderr } = command
    if (stdin) void pipeline(stdin, open('stdin')).catch(() => void stdin.resume())
    const outputs = [copy(stdout, 'stdout', open), copy(stderr, 'stderr', open)]
    if (command.isTerminal) sendSizes(command, open('resize'))
    const [status] = await Promise.all([text(error), ...outputs])
    return statusIn(status)
  } finally {
    command.signal.removeEventListener('abort', leave)
    leave()
  }
}

async function copy(to: RemoteCommand['stdout'], name: string, open: (name: string) => SpdyStream): Promise<void> {
  if (!to) return
  const from = open(name)
  from.end()
  from.pipe(to, { end: false })
  await finished(from, { writable: false }).catch(() => {})
}

function sendSizes(command: RemoteCommand, stream: SpdyStream): void {
  stream.resume()
  command.onResize(({ width, height }) => {
    if (!stream.destroyed) stream.write(`${JSON.stringify({ Width: width, Height: height })}\n`)
  })
}

function statusIn(json: string): ExitStatus {
  if (!json) throw new Error('the container runtime has closed the connection')
  try {
    const status: unknown = JSON.parse(json)
    if (typeof status === 'object' && status !== null && own(status as Record<string, unknown>, 'status'))
      return status as ExitStatus
    throw new Error('it is not a Status')
  } catch (error) {
    throw new Error(`the container runtime has sent an invalid status: ${messageOf(error)}`)
  }
}
