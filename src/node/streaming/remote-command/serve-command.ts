/** Serves a remote command: accepts the connection, runs the command, sends its exit status and closes. */
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { protocolOf, type Upgrade } from '../upgrade.ts'
import { type ExitStatus, exitStatus, failureStatus, statusText } from './exit-status.ts'
import { commandOverChannels } from './over-channels.ts'
import { commandOverSpdy } from './over-spdy.ts'
import type { RemoteCommand, RequestedStreams } from './remote-command.ts'

/**
 * Resolves when the connection is closed. `run` resolves with the exit code, or with the status that a runtime reports;
 * if it rejects, the client gets the error.
 * Rejects with an HttpError, before it has answered, if the client's protocol is not supported.
 */
export async function serveCommand(
  upgrade: Upgrade,
  requested: RequestedStreams,
  action: 'executing command in' | 'attaching to',
  run: (command: RemoteCommand) => Promise<number | ExitStatus>,
): Promise<void> {
  const command = await (protocolOf(upgrade) === 'spdy' ? commandOverSpdy : commandOverChannels)(upgrade, requested)
  if (!command) return
  const status = await run(command).then(
    (end) => (typeof end === 'number' ? exitStatus(end) : end),
    (error) => failureStatus(action, error),
  )
  await Promise.all([flushed(command.stdout), flushed(command.stderr)])
  const text = statusText(status, command.hasPlainStatus)
  if (text) command.error.write(text)
  await flushed(command.error)
  command.close()
}

/** Ends a stream; resolves when the connection has taken all of its data, or is closed. */
async function flushed(stream: Writable | undefined): Promise<void> {
  stream?.end()
  if (stream) await finished(stream, { readable: false }).catch(() => {})
}
