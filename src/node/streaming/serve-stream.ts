/** Serves `exec`, `attach` and `portForward` of a kubelet's API. */
import { HttpError } from '../http-error.ts'
import type { ContainerReference, ContainerStreams } from './container-streams.ts'
import { servePortForward } from './port-forward/serve-port-forward.ts'
import type { RequestedStreams } from './remote-command/remote-command.ts'
import { serveCommand } from './remote-command/serve-command.ts'
import type { Upgrade } from './upgrade.ts'

/**
 * Resolves when the stream has ended, or for port forwarding when it is open. Rejects with an HttpError, before it has
 * answered, if the request is not supported.
 */
export async function serveStream(
  upgrade: Upgrade,
  kind: string,
  container: ContainerReference,
  query: URLSearchParams,
  streams: ContainerStreams,
): Promise<void> {
  switch (kind) {
    case 'exec':
      return serveCommand(upgrade, requestedStreams(query), 'executing command in', (command) =>
        streams.exec(container, query.getAll('command'), command),
      )
    case 'attach':
      return serveCommand(upgrade, requestedStreams(query), 'attaching to', async (command) => {
        await streams.attach(container, command)
        return 0
      })
    case 'portForward':
      return servePortForward(upgrade, query, container, (port, connection) =>
        streams.portForward(container, port, connection),
      )
    default:
      throw new HttpError(404, 'unable to upgrade: unsupported protocol')
  }
}

/** The streams in the query of `exec` and `attach`. */
export function requestedStreams(query: URLSearchParams): RequestedStreams {
  const isTerminal = query.get('tty') === '1'
  return {
    stdin: query.get('input') === '1',
    stdout: query.get('output') === '1',
    stderr: query.get('error') === '1' && !isTerminal,
    isTerminal,
  }
}
