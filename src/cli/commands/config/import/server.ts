/** Replaces a server at 127.0.0.1, which means the machine that the kubeconfig comes from. */

import { ExplainedError } from '../../../../lib/explained-error.ts'
import { type IncomingContext, loopbackServer, serverAt, withServer } from '../../../../tools/config/import/incoming.ts'
import { askYesNo } from '../../../terminal/ask.ts'
import type { Terminal } from '../../../terminal/terminal.ts'

interface ServerFlags {
  readonly keepServer?: boolean
  readonly changeServer?: boolean
}

/**
 * Returns the context with the server that flags or the user at the terminal decide on. Rejects with an ExplainedError
 * if neither decides.
 */
export async function resolvedServer(
  incoming: IncomingContext,
  host: string | undefined,
  flags: ServerFlags,
  terminal: Terminal | undefined,
): Promise<IncomingContext> {
  const url = loopbackServer(incoming)
  if (!url || host === undefined || flags.keepServer) return incoming
  const moved = serverAt(url, host)
  // The SSH host is this machine.
  if (new URL(moved).hostname === url.hostname) return incoming
  if (flags.changeServer) return withServer(incoming, moved)
  if (!terminal) {
    throw new ExplainedError(
      `its server is ${url.origin}, which is a loopback address of ${host}: use --change-server to replace it with ` +
        `${moved}, or --keep-server to keep it`,
    )
  }
  const agreed = await askYesNo(
    terminal,
    `Its server is ${url.origin}, which is a loopback address of ${host}. Replace it with ${moved}?`,
    true,
  )
  return agreed ? withServer(incoming, moved) : incoming
}
