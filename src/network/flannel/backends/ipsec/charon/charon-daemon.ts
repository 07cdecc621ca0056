/**
 * The daemon charon: one that runs already, or a child in a session of its own, which outlives flannel so that restarts
 * lose no packet.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../../../lib/message-of.ts'
import { ViciClient } from '../vici/vici-client.ts'
import { writeSettings } from './charon-settings.ts'
import { viciHint } from './find-charon.ts'

/** Upstream's place of the control socket. */
export const charonSocket = '/var/run/charon.vici'
/** How long a started daemon may take to listen, and how often it is tried, in ms. */
const [startMs, retryMs] = [15_000, 100]

export interface CharonOptions {
  /** Returns the program, to start it. */
  readonly find: () => string
  /** Variables of the program. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: (line: string) => void
  /** Aborted when flannel ends. */
  readonly signal: AbortSignal
}

export class CharonDaemon {
  readonly #options: CharonOptions
  #child: ChildProcess | undefined
  #isLogged = false
  #failure: string | undefined

  constructor(options: CharonOptions) {
    this.#options = options
  }

  /** Resolves with a connection to the daemon, which is started if none answers. */
  async connect(): Promise<ViciClient> {
    const client = await ViciClient.connect(charonSocket).catch(() => undefined)
    const connected = client ?? (await this.#start())
    try {
      if (!this.#isLogged) await this.#logVersion(connected, client !== undefined && !this.#isRunning())
    } catch (error) {
      connected.close()
      throw error
    }
    return connected
  }

  async #logVersion(client: ViciClient, isOther: boolean): Promise<void> {
    const { daemon, version } = await client.request('version')
    this.#isLogged = true
    this.#options.log(
      isOther
        ? `ipsec: using ${String(daemon)} ${String(version)}, which runs already; its log is that of the system`
        : `ipsec: Charon daemon started: ${String(daemon)} ${String(version)}`,
    )
  }

  async #start(): Promise<ViciClient> {
    this.#isLogged = false
    if (!this.#isRunning()) this.#spawn(this.#options.find())
    for (let waited = 0; waited < startMs; waited += retryMs) {
      this.#options.signal.throwIfAborted()
      const client = await ViciClient.connect(charonSocket).catch(() => undefined)
      if (client) return client
      if (!this.#isRunning()) throw new Error(`charon has ended: ${this.#failure}. Its lines above have the reason`)
      await delay(retryMs)
    }
    throw new Error(`charon runs, and does not listen at ${charonSocket}: ${viciHint}`)
  }

  #isRunning(): boolean {
    return this.#child !== undefined && this.#failure === undefined
  }

  #spawn(program: string): void {
    const { environment, log } = this.#options
    this.#failure = undefined
    const env = { ...environment, STRONGSWAN_CONF: writeSettings(environment.STRONGSWAN_CONF) }
    const child = spawn(program, [], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env })
    this.#child = child
    child.once('error', (error) => {
      this.#failure = messageOf(error)
    })
    child.once('exit', (code, signal) => {
      this.#failure ??= signal === null ? `exit status ${code}` : signal
      log(`charon ended: ${this.#failure}`)
    })
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => log(`charon: ${line}`))
      // flannel ends although charon runs.
      if (stream instanceof Socket) stream.unref()
    }
    child.unref()
  }
}
