/** Connects to a machine by SSH, through the machines on the way. */
import type { Duplex } from 'node:stream'
import ssh2, { type Client, type ServerHostKeyAlgorithm } from 'ssh2'
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import type { Asker } from './asker.ts'
import { Deadline } from './deadline.ts'
import { hostKeys } from './host-keys.ts'
import { logIn } from './log-in.ts'
import { type ProxyProgram, proxyProgram } from './proxy-command.ts'
import type { SshHost } from './ssh-address.ts'
import { type SshSettings, type SshSettingsOptions, sshSettings } from './ssh-settings.ts'

export interface SshOptions extends SshSettingsOptions {
  /** For the machine itself, not for those on the way. */
  readonly password?: string
  /** Undefined where nobody is at a terminal. */
  readonly asker: Asker | undefined
  /** Machines on the way, in the place of those that ~/.ssh/config names. */
  readonly jumps?: readonly SshHost[]
}

export interface SshConnection {
  readonly client: Client
  readonly settings: SshSettings
  close(): void
}

/** The kinds of host keys that are understood, the best first. */
const hostKeyTypes: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
  'ssh-rsa',
]

/** A way with more machines than this is a circle. */
const maxJumps = 8

/** Rejects with an ExplainedError that names the machine that could not be reached, or would not let one in. */
export async function connect(host: SshHost, options: SshOptions): Promise<SshConnection> {
  const settings = sshSettings(host, options)
  const route = [...jumpsTo(settings, options), settings]
  const clients: Client[] = []
  const close = (): void => {
    for (const client of clients.toReversed()) client.end()
  }
  try {
    for (const [index, hop] of route.entries()) {
      const before = clients.at(-1)
      const way = before && (await forwarded(before, route[index - 1]!, hop))
      // Those behind others are reached through them.
      const program =
        before === undefined && hop.proxyCommand !== undefined ? proxyProgram(hop.proxyCommand, hop.alias) : undefined
      clients.push(
        await connected(
          hop,
          hop === settings ? options : { ...options, password: undefined },
          way ?? program?.way,
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

/** The machines on the way. The first of them may have some before itself, in ~/.ssh/config. */
function jumpsTo(settings: SshSettings, options: SshOptions): SshSettings[] {
  let jumps = (options.jumps ?? settings.jumps).map((jump) => sshSettings(jump, options))
  while (jumps[0] && jumps[0].jumps.length > 0 && options.jumps === undefined) {
    jumps = [...jumps[0].jumps.map((jump) => sshSettings(jump, options)), ...jumps]
    if (jumps.length > maxJumps)
      throw new ExplainedError(
        `the way to ${settings.alias} leads over more than ${maxJumps} machines: look for a circle of ProxyJump ` +
          'in ~/.ssh/config',
      )
  }
  return jumps
}

/**
 * A client that has logged in; `way` is what connects to the machine, if it is not reached directly, and `program` what
 * makes that.
 */
async function connected(
  settings: SshSettings,
  options: SshOptions,
  way?: Duplex,
  program?: ProxyProgram,
): Promise<Client> {
  const { hostName, port, user, alias } = settings
  const keys = hostKeys(settings)
  const client = new ssh2.Client()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const deadline = new Deadline(settings.connectTimeoutMs, () =>
    reject(
      new ExplainedError(
        `${alias} (${hostName}:${port}) did not answer within ${settings.connectTimeoutMs / 1000} s: see whether ` +
          'it is up, and whether the port is right',
      ),
    ),
  )
  // Who thinks about a question takes no time from the machine.
  const asker: Asker | undefined = options.asker && {
    secret: (question) => deadline.pausedFor(options.asker!.secret(question)),
    confirm: (question, usual) => deadline.pausedFor(options.asker!.confirm(question, usual)),
  }
  const access = logIn(
    { settings, password: options.password, keysChosen: (options.identityFiles?.length ?? 0) > 0, asker },
    reject,
  )
  // A program on the way knows better why.
  const lost = (error: ExplainedError): void => void (program ? program.ended.then(reject) : reject(error))
  // An answer that comes later is for nobody, and ssh2 cannot take it.
  let gone = false
  client
    .on('ready', resolve)
    .on('error', (error: ClientError) =>
      error.level === 'client-authentication' ? reject(access.failure()) : lost(explained(error, settings)),
    )
    .on('close', () => {
      gone = true
      lost(new ExplainedError(`${alias} (${hostName}:${port}) ended the connection: see its log for why`))
    })
  try {
    client.connect({
      ...(way ? { sock: way } : { host: hostName, port }),
      username: user,
      readyTimeout: 0,
      algorithms: { serverHostKey: [...preferred(keys.knownTypes)] },
      hostVerifier: (key: Buffer, verify: (trusted: boolean) => void) => {
        keys.trust(key, asker).then(
          () => gone || verify(true),
          (error) => {
            reject(error)
            if (!gone) verify(false)
          },
        )
      },
      authHandler: (left, partial, next) => access.handler(left, partial, (way) => gone || next(way)),
    })
    await promise
    // What goes wrong from here on is told to who reads.
    client.removeAllListeners('error').on('error', () => {})
    return client
  } catch (error) {
    gone = true
    client.destroy()
    throw error
  } finally {
    deadline.end()
  }
}

/** Kinds of keys that are known of the host come first: it should show one that can be compared. */
function preferred(known: readonly string[]): ServerHostKeyAlgorithm[] {
  const isKnown = (type: string): boolean => known.includes(type.startsWith('rsa-') ? 'ssh-rsa' : type)
  return [...hostKeyTypes.filter(isKnown), ...hostKeyTypes.filter((type) => !isKnown(type))]
}

/** A connection from one machine to the next. */
function forwarded(client: Client, from: SshSettings, { hostName, port }: SshSettings): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    client.forwardOut('127.0.0.1', 0, hostName, port, (error, stream) => {
      if (error)
        reject(
          new ExplainedError(
            `${from.alias}, which is on the way, cannot reach ${hostName}:${port}: ${reasonOf(error)}`,
            { cause: error },
          ),
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
      return new ExplainedError(
        `there is no machine called ${hostName}: look at the name, or at HostName in ~/.ssh/config`,
        { cause: error },
      )
    case 'ECONNREFUSED':
      return new ExplainedError(`nobody listens at ${at}: see whether sshd runs there, and whether the port is right`, {
        cause: error,
      })
    default:
      return new ExplainedError(`cannot connect to ${at} by SSH: ${reasonOf(error)}`, { cause: error })
  }
}
