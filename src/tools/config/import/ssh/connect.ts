/** Connects to a machine with SSH, through jump hosts. */
import type { Duplex } from 'node:stream'
import type { Client } from 'ssh2'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
import type { Asker } from './asker.ts'
import { ConnectionAttempt } from './connection-attempt.ts'
import { proxyProgram } from './proxy-command.ts'
import type { SshHost } from './settings/ssh-address.ts'
import { type SshSettings, type SshSettingsOptions, sshSettings } from './settings/ssh-settings.ts'

export interface SshOptions extends SshSettingsOptions {
  /** For the target, not for jump hosts. */
  readonly password?: string
  /** Undefined without a terminal. */
  readonly asker: Asker | undefined
  /** Jump hosts, in place of those in ~/.ssh/config. */
  readonly jumps?: readonly SshHost[]
}

export interface SshConnection {
  readonly client: Client
  readonly settings: SshSettings
  close(): void
}

/** Limits the jump hosts, against cycles of ProxyJump. */
const maxJumps = 8

/** Rejects with an ExplainedError that names the machine that is unreachable or rejects the login. */
export async function connect(host: SshHost, options: SshOptions): Promise<SshConnection> {
  const settings = sshSettings(host, options)
  const route = [...jumpsTo(settings, options), settings]
  const clients: Client[] = []
  const close = (): void => {
    for (const client of clients.toReversed()) client.end()
  }
  try {
    for (const [index, hop] of route.entries()) {
      const previous = clients.at(-1)
      const stream = previous && (await forwarded(previous, route[index - 1]!, hop))
      // A ProxyCommand only applies to the first machine; later ones are reached through it.
      const program =
        previous === undefined && hop.proxyCommand !== undefined ? proxyProgram(hop.proxyCommand, hop.alias) : undefined
      const attempt = new ConnectionAttempt({
        settings: hop,
        password: hop === settings ? options.password : undefined,
        keysChosen: (options.identityFiles?.length ?? 0) > 0,
        asker: options.asker,
        stream: stream ?? program?.stream,
        program,
      })
      clients.push(await attempt.connect())
    }
    return { client: clients.at(-1)!, settings, close }
  } catch (error) {
    close()
    throw error
  }
}

/** The jump hosts; the first one may have jump hosts of its own in ~/.ssh/config. */
function jumpsTo(settings: SshSettings, options: SshOptions): SshSettings[] {
  let jumps = (options.jumps ?? settings.jumps).map((jump) => sshSettings(jump, options))
  while (jumps[0] && jumps[0].jumps.length > 0 && options.jumps === undefined) {
    jumps = [...jumps[0].jumps.map((jump) => sshSettings(jump, options)), ...jumps]
    if (jumps.length > maxJumps)
      throw new ExplainedError(
        `${settings.alias} has more than ${maxJumps} jump hosts: check ~/.ssh/config for a cycle of ProxyJump`,
      )
  }
  return jumps
}

/** Opens a connection from one machine to the next. */
function forwarded(client: Client, from: SshSettings, { hostName, port }: SshSettings): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    client.forwardOut('127.0.0.1', 0, hostName, port, (error, stream) => {
      if (error)
        reject(
          new ExplainedError(`the jump host ${from.alias} cannot reach ${hostName}:${port}: ${reasonOf(error)}`, {
            cause: error,
          }),
        )
      else resolve(stream)
    })
  })
}
