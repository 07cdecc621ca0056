/** Connects clients with the streams of a running container. */
import { RpcError } from '../../../lib/grpc/grpc-error.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { RemoteCommand } from '../../../node/streaming/remote-command/remote-command.ts'
import type { DockerParts } from '../docker-parts.ts'
import { copyInput, copyOutput } from './copy-streams.ts'
import { detachKeys, resize } from './exec.ts'

/** Resolves when the container has ended, or the client has left. */
export async function attachTo(parts: DockerParts, containerId: string, client: RemoteCommand): Promise<void> {
  const { inspection } = await parts.pods.container(containerId)
  if (!inspection.State.Running) throw new RpcError('Unknown', `container ${containerId} is not running`)
  const { Tty: isTerminal, OpenStdin: takesInput } = inspection.Config
  const { stdin, stdout, stderr, signal } = client
  const path = `/containers/${containerId}`
  const connection = await parts.engine
    .hijack({
      path: `${path}/attach`,
      query: {
        stream: true,
        stdin: takesInput && stdin !== undefined,
        stdout: stdout !== undefined,
        stderr: stderr !== undefined,
        detachKeys,
      },
    })
    .catch((error) => {
      throw new RpcError('Unknown', `failed to attach to container: ${messageOf(error)}`, { cause: error })
    })
  const leave = (): void => void connection.destroy()
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  if (isTerminal) client.onResize((size) => void resize(parts, path, size))
  const streams = { stdin, stdout, stderr, isTerminal }
  if (takesInput) copyInput(streams, connection)
  else stdin?.resume()
  try {
    await copyOutput(streams, connection)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', leave)
    connection.destroy()
  }
}
