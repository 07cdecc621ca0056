/**
 * Finds sockets of plug-ins in a folder, `ROOT/plugins_registry`, and registers them: asks each for its name and
 * notifies it of the result. A socket that disappears, or is replaced, unregisters its plug-in. As upstream, the folder
 * is compared each second, so failures are retried, with a growing delay.
 */
import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type PluginInfo, Registration } from '#protobuf/plugin-registration_pb.js'
import { SocketClient } from '../../../../../lib/grpc/socket-client.ts'
import { messageOf } from '../../../../../lib/message-of.ts'

/** Registers plug-ins of one type. */
export interface PluginHandler {
  /** Rejects with the message for the plug-in. */
  register(name: string, endpoint: string, versions: readonly string[]): Promise<void>
  unregister(name: string): Promise<void>
}

export interface PluginWatcherOptions {
  readonly folder: string
  /** By type, such as `CSIPlugin`. */
  readonly handlers: Readonly<Record<string, PluginHandler>>
  readonly schedule: (callback: () => void, ms: number) => () => void
  readonly now: () => number
  readonly log: (line: string) => void
}

interface KnownSocket {
  /** Changes if the socket is replaced. */
  readonly version: string
  plugin?: { readonly type: string; readonly name: string }
  failures: number
  retryAtMs: number
}

const intervalMs = 1_000
const maxRetryMs = 120_000
const callMs = 10_000

export class PluginWatcher {
  readonly #options: PluginWatcherOptions
  readonly #sockets = new Map<string, KnownSocket>()
  #cancel = (): void => {}
  #isStopped = false
  #running = Promise.resolve()

  constructor(options: PluginWatcherOptions) {
    this.#options = options
  }

  /** Resolves when plug-ins that are present were tried once. */
  async start(): Promise<void> {
    await mkdir(this.#options.folder, { recursive: true, mode: 0o750 })
    await this.#compare()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#running
  }

  #compare(): Promise<void> {
    this.#running = this.#update()
      .catch((error) => this.#options.log(`cannot read ${this.#options.folder}: ${messageOf(error)}`))
      .finally(() => {
        if (!this.#isStopped) this.#cancel = this.#options.schedule(() => void this.#compare(), intervalMs)
      })
    return this.#running
  }

  async #update(): Promise<void> {
    const present = await socketsIn(this.#options.folder)
    for (const [path, known] of this.#sockets)
      if (present.get(path) !== known.version) {
        this.#sockets.delete(path)
        if (known.plugin) await this.#unregister(known.plugin)
      }
    for (const [path, version] of present)
      if (!this.#sockets.has(path)) this.#sockets.set(path, { version, failures: 0, retryAtMs: 0 })
    await Promise.all(
      [...this.#sockets].map(async ([path, socket]) => {
        if (!socket.plugin && socket.retryAtMs <= this.#options.now()) await this.#register(path, socket)
      }),
    )
  }

  async #unregister({ type, name }: { readonly type: string; readonly name: string }): Promise<void> {
    const { handlers, log } = this.#options
    await handlers[type]
      ?.unregister(name)
      .catch((error: Error) => log(`cannot unregister the plug-in ${name}: ${error.message}`))
  }

  async #register(path: string, socket: KnownSocket): Promise<void> {
    const client = new SocketClient(`unix://${path}`)
    try {
      const info = await client.call(Registration.method.getInfo, {}, { timeoutMs: callMs })
      const error = await this.#handle(path, info)
      const status = { pluginRegistered: error === undefined, error: error ?? '' }
      await client.call(Registration.method.notifyRegistrationStatus, status, { timeoutMs: callMs })
      if (error !== undefined) throw new Error(error)
      socket.plugin = { type: info.type, name: info.name }
    } catch (error) {
      socket.retryAtMs = this.#options.now() + Math.min(500 * 2 ** socket.failures++, maxRetryMs)
      this.#options.log(`cannot register the plug-in at ${path}: ${messageOf(error)}`)
    } finally {
      client.close()
    }
  }

  /** Resolves with the reason of a failure. */
  async #handle(path: string, { type, name, endpoint, supportedVersions }: PluginInfo): Promise<string | undefined> {
    const handler = this.#options.handlers[type]
    if (!handler) return `RegisterPlugin error -- no handler registered for plugin type: ${type} at socket ${path}`
    try {
      await handler.register(name, endpoint || path, supportedVersions)
      return undefined
    } catch (error) {
      return `RegisterPlugin error -- plugin registration failed with err: ${messageOf(error)}`
    }
  }
}

/** The sockets in a folder and its folders, with their identities. Hidden ones are skipped. */
async function socketsIn(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isSocket() || path.slice(folder.length).includes('/.')) continue
    const stats = await stat(path).catch(() => undefined)
    if (stats) found.set(path, `${stats.ino} ${stats.ctimeMs}`)
  }
  return found
}
