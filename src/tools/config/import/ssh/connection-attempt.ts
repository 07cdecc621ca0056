/** Connects to one machine with SSH: verifies its host key and logs in, before a deadline. */
import type { Duplex } from 'node:stream'
import ssh2, { type Client, type ServerHostKeyAlgorithm } from 'ssh2'
import { ExplainedError, errorCode, reasonOf } from '../../../../lib/explained-error.ts'
import type { Asker } from './asker.ts'
import { Deadline } from './deadline.ts'
import { type HostKeys, hostKeys } from './host-keys.ts'
import { type LogIn, logIn } from './log-in.ts'
import type { ProxyProgram } from './proxy-command.ts'
import type { SshSettings } from './settings/ssh-settings.ts'

export interface AttemptOptions {
  readonly settings: SshSettings
  /** The only way to log in, if set. */
  readonly password: string | undefined
  /** True if the user chose the keys. */
  readonly keysChosen: boolean
  /** Undefined without a terminal. */
  readonly asker: Asker | undefined
  /** The connection to the machine, if it is not direct. */
  readonly stream: Duplex | undefined
  /** The ProxyCommand that provides `stream`. */
  readonly program: ProxyProgram | undefined
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

export class ConnectionAttempt {
  readonly #settings: SshSettings
  readonly #stream: Duplex | undefined
  readonly #program: ProxyProgram | undefined
  readonly #asker: Asker | undefined
  readonly #deadline: Deadline
  readonly #hostKeys: HostKeys
  readonly #logIn: LogIn
  readonly #client = new ssh2.Client()
  readonly #outcome = Promise.withResolvers<void>()
  /** ssh2 throws if it gets an answer after the connection was closed. */
  #isClosed = false

  /** Throws an ExplainedError for unreadable known hosts. */
  constructor({ settings, password, keysChosen, asker, stream, program }: AttemptOptions) {
    this.#settings = settings
    this.#stream = stream
    this.#program = program
    this.#hostKeys = hostKeys(settings)
    const { reject } = this.#outcome
    const deadline = new Deadline(settings.connectTimeoutMs, () => reject(timeoutError(settings)))
    this.#deadline = deadline
    // Time at a prompt does not count for the timeout.
    this.#asker = asker && {
      secret: (question) => deadline.pausedFor(asker.secret(question)),
      confirm: (question, defaultAnswer) => deadline.pausedFor(asker.confirm(question, defaultAnswer)),
    }
    this.#logIn = logIn({ settings, password, keysChosen, asker: this.#asker }, reject)
  }

  /** Resolves with the logged-in client. Rejects with an ExplainedError that names the machine. */
  async connect(): Promise<Client> {
    const { hostName, port, user } = this.#settings
    this.#listen()
    try {
      this.#client.connect({
        ...(this.#stream ? { sock: this.#stream } : { host: hostName, port }),
        username: user,
        readyTimeout: 0,
        algorithms: { serverHostKey: preferred(this.#hostKeys.knownTypes) },
        hostVerifier: (key: Buffer, verify: (trusted: boolean) => void) => this.#verifyHost(key, verify),
        authHandler: (remaining, partial, next) =>
          this.#logIn.handler(remaining, partial, (method) => this.#isClosed || next(method)),
      })
      await this.#outcome.promise
      // Later errors are reported by reads.
      this.#client.removeAllListeners('error').on('error', () => {})
      return this.#client
    } catch (error) {
      this.#isClosed = true
      this.#client.destroy()
      throw error
    } finally {
      this.#deadline.end()
    }
  }

  #listen(): void {
    const { resolve, reject } = this.#outcome
    this.#client
      .on('ready', resolve)
      .on('error', (error: ClientError) => {
        if (error.level === 'client-authentication') reject(this.#logIn.failure())
        else this.#fail(new ExplainedError(problemOf(error, this.#settings), { cause: error }))
      })
      .on('close', () => {
        this.#isClosed = true
        const machine = machineOf(this.#settings)
        this.#fail(new ExplainedError(`${machine} closed the connection: check its log for the reason`))
      })
  }

  /** Rejects with the error of the ProxyCommand if there is one, which is more specific. */
  #fail(error: ExplainedError): void {
    const { reject } = this.#outcome
    if (this.#program) void this.#program.ended.then(reject)
    else reject(error)
  }

  #verifyHost(key: Buffer, verify: (trusted: boolean) => void): void {
    this.#hostKeys.trust(key, this.#asker).then(
      () => this.#isClosed || verify(true),
      (error) => {
        this.#outcome.reject(error)
        if (!this.#isClosed) verify(false)
      },
    )
  }
}

/** Prefers key types that known_hosts has for the host, so that its key can be compared. */
function preferred(known: readonly string[]): ServerHostKeyAlgorithm[] {
  const isKnown = (type: string): boolean => known.includes(type.startsWith('rsa-') ? 'ssh-rsa' : type)
  return [...hostKeyTypes.filter(isKnown), ...hostKeyTypes.filter((type) => !isKnown(type))]
}

const machineOf = ({ alias, hostName, port }: SshSettings): string => `${alias} (${hostName}:${port})`

const timeoutError = (settings: SshSettings): ExplainedError =>
  new ExplainedError(
    `${machineOf(settings)} did not respond within ${settings.connectTimeoutMs / 1000} s: check ` +
      'that it is up and that the port is correct',
  )

type ClientError = Error & { readonly level?: string }

function problemOf(error: ClientError, settings: SshSettings): string {
  switch (errorCode(error)) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `unknown host ${settings.hostName}: check the name, or HostName in ~/.ssh/config`
    case 'ECONNREFUSED':
      return `${machineOf(settings)} refuses connections: check that sshd is running there and that the port is correct`
    default:
      return `cannot connect to ${machineOf(settings)} with SSH: ${reasonOf(error)}`
  }
}
