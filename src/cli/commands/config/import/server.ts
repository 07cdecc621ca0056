/** A server that says 127.0.0.1 means the machine that its kubeconfig comes from: what becomes of it here. */
import { type IncomingContext, loopbackServer, serverAt, withServer } from '../../../../kubeconfig/import/incoming.ts'
import { ExplainedError } from '../../../../lib/explained-error.ts'
import { askYesNo } from '../../../terminal/ask.ts'
import type { Terminal } from '../../../terminal/terminal.ts'

interface ServerFlags {
  readonly keepServer?: boolean
  readonly changeServer?: boolean
}

/**
 * The context with the server that flags, or somebody at the terminal, decide on. Rejects with an ExplainedError where
 * nobody does.
 */
export async function settledServer(
  incoming: IncomingContext,
  host: string | undefined,
  flags: ServerFlags,
  terminal: Terminal | undefined,
): Promise<IncomingContext> {
  const url = loopbackServer(incoming)
  if (!url || host === undefined || flags.keepServer) return incoming
  const moved = serverAt(url, host)
  // SSH went to this machine itself.
  if (new URL(moved).hostname === url.hostname) return incoming
  if (flags.changeServer) return withServer(incoming, moved)
  if (!terminal) {
    throw new ExplainedError(
      `its server is ${url.origin}, which is that machine itself: say --change-server to make it ${moved}, or ` +
        '--keep-server to leave it',
    )
  }
  const agreed = await askYesNo(
    terminal,
    `Its server is ${url.origin}, which is that machine itself. Change it to ${moved}?`,
    true,
  )
  return agreed ? withServer(incoming, moved) : incoming
}
