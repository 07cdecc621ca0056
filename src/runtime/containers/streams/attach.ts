/** Connects clients with the streams of a running container. */
import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { RemoteCommand } from '../../../node/streaming/remote-command/remote-command.ts'
import { type Container, wrongState } from '../container.ts'
import { endHolder, keeperFiles } from '../keeper.ts'
import { writeToTerminal } from './copy.ts'

/** Resolves when the container has ended, or the client has left. */
export async function attachTo(container: Container, client: RemoteCommand): Promise<void> {
  const { output, terminal } = container
  if (!output) throw wrongState(container)
  const { stdin, stdout, stderr } = client
  const detached = new AbortController()
  const left = new Promise<void>((resolve) => {
    if (client.signal.aborted) resolve()
    client.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  output.attach({ stdout, stderr }, detached.signal)
  if (terminal !== undefined) {
    client.onResize((size) => void container.resize(size).catch(() => {}))
    if (stdin) void writeToTerminal(stdin, terminal, Promise.race([container.ended, left])).catch(() => {})
  } else if (stdin) writeInput(container, stdin, detached.signal)
  await Promise.race([container.ended, left])
  detached.abort()
  stdin?.resume()
}

function writeInput(container: Container, stdin: Readable, detached: AbortSignal): void {
  const { config } = container.record
  if (!config.stdin) {
    stdin.resume()
    return
  }
  const file = openSync(join(container.folder, keeperFiles.in), constants.O_WRONLY | constants.O_NONBLOCK)
  const writer = new Socket({ fd: file, readable: false, writable: true })
  writer.on('error', () => stdin.resume())
  stdin.pipe(writer)
  detached.addEventListener('abort', () => writer.destroy(), { once: true })
  // The first client to end its input ends that of the container, if it has asked for that.
  if (config.stdinOnce)
    void finished(writer, { readable: false })
      .catch(() => {})
      .then(() => endHolder(container.folder))
}
