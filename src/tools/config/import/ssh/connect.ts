/** Connects to a machine with SSH, through jump hosts. */
import type { Duplex } from 'node:stream'
import ssh2, { type Client, type ServerHostKeyAlgorithm } from 'ssh2'
import { ExplainedError, errorCode, reasonOf } from '../../../../lib/explained-error.ts'
import type { Asker } from './asker.ts'
import { Deadline } from './deadline.ts'
import { hostKeys } from './host-keys.ts'
import { logIn } from './log-in.ts'
import { type ProxyProgram, proxyProgram } from './proxy-command.ts'
import type { SshHost } from './ssh-address.ts'
import { type SshSettings, type SshSettingsOptions, sshSettings } from './ssh-settings.ts'

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

/** Supported types of host keys, in order of preference. */
const hostKeyTypes: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
  'ssh-rsa',
]

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
      clients.push(
        await connected(
          hop,
          hop === settings ? options : { ...options, password: undefined },
          stream ?? program?.stream,
          program,
        ),
      )
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

/**
 * Connects and logs in. `stream` is the connection to the machine, if it is not direct, and `program` the ProxyCommand
 * that provides it.
 */
async function connected(
  settings: SshSettings,
  options: SshOptions,
  stream?: Duplex,
  program?: ProxyProgram,
): Promise<Client> {
  const { hostName, port, user, alias } = settings
  const keys = hostKeys(settings)
  const client = new ssh2.Client()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const deadline = new Deadline(settings.connectTimeoutMs, () =>
    reject(
      new ExplainedError(
        `${alias} (${hostName}:${port}) did not respond within ${settings.connectTimeoutMs / 1000} s: check ` +
          'that it is up and that the port is correct',
      ),
    ),
  )
  // Time at a prompt does not count for the timeout.
  const asker: Asker | undefined = options.asker && {
    secret: (question) => deadline.pausedFor(options.asker!.secret(question)),
    confirm: (question, defaultAnswer) => deadline.pausedFor(options.asker!.confirm(question, defaultAnswer)),
  }
  const access = logIn(
    { settings, password: options.password, keysChosen: (options.identityFiles?.length ?? 0) > 0, asker },
    reject,
  )
  // The error of a ProxyCommand is more specific.
  const lost = (error: ExplainedError): void => void (program ? program.ended.then(reject) : reject(error))
  // ssh2 throws if it gets an answer after the connection was closed.
  let isClosed = false
  client
    .on('ready', resolve)
    .on('error', (error: ClientError) =>
      error.level === 'client-authentication' ? reject(access.failure()) : lost(explained(error, settings)),
    )
    .on('close', () => {
      isClosed = true
      lost(new ExplainedError(`${alias} (${hostName}:${port}) closed the connection: check its log for the reason`))
    })
  try {
    client.connect({
      ...(stream ? { sock: stream } : { host: hostName, port }),
      username: user,
      readyTimeout: 0,
      algorithms: { serverHostKey: [...preferred(keys.knownTypes)] },
      hostVerifier: (key: Buffer, verify: (trusted: boolean) => void) => {
        keys.trust(key, asker).then(
          () => isClosed || verify(true),
          (error) => {
            reject(error)
            if (!isClosed) verify(false)
          },
        )
      },
      authHandler: (remaining, partial, next) =>
        access.handler(remaining, partial, (method) => isClosed || next(method)),
    })
    await promise
    // Later errors are reported by reads.
    client.removeAllListeners('error').on('error', () => {})
    return client
  } catch (error) {
    isClosed = true
    client.destroy()
    throw error
  } finally {
    deadline.end()
  }
}

/** Prefers key types that known_hosts has for the host, so that its key can be compared. */
function preferred(known: readonly string[]): ServerHostKeyAlgorithm[] {
  const isKnown = (type: string): boolean => known.includes(type.startsWith('rsa-') ? 'ssh-rsa' : type)
  return [...hostKeyTypes.filter(isKnown), ...hostKeyTypes.filter((type) => !isKnown(type))]
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

type ClientError = Error & { readonly level?: string }

function explained(error: ClientError, { alias, hostName, port }: SshSettings): ExplainedError {
  const at = `${alias} (${hostName}:${port})`
  switch (errorCode(error)) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ExplainedError(`unknown host ${hostName}: check the name, or HostName in ~/.ssh/config`, {
        cause: error,
      })
    case 'ECONNREFUSED':
      return new ExplainedError(
        `${at} refuses connections: check that sshd is running there and that the port is correct`,
        {
          cause: error,
        },
      )
    default:
      return new ExplainedError(`cannot connect to ${at} with SSH: ${reasonOf(error)}`, { cause: error })
  }
}
