/**
 * Rotates the logs of containers that exceed a size (`containerLogMaxSize`): the current file is renamed, the runtime
 * opens a new one, and of the older ones all but the newest are compressed. Upstream's names and order.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { link, lstat, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { ContainerState } from '#protobuf/cri-runtime_pb.js'
import { messageOf } from '../../../lib/message-of.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import { isArchived, rotatedNames, rotationSuffix } from './rotated-names.ts'

export interface LogRotationOptions {
  readonly runtime: Pick<CriRuntime, 'containers' | 'containerStatus' | 'reopenLog'>
  /** `containerLogMaxSize` in bytes. Default of upstream: 10 Mi. A negative one turns rotation off. */
  readonly maxBytes: number
  /** `containerLogMaxFiles`, the current one included; at least 2. Default of upstream: 5. */
  readonly maxFiles: number
  /** `containerLogMonitorInterval`. Default of upstream: 10 s. */
  readonly intervalMs: number
  readonly log: (line: string) => void
  readonly now: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
}

export class LogRotation {
  readonly #options: LogRotationOptions
  /** By the ID of a running container: the path of its log, which never changes. */
  readonly #paths = new Map<string, string>()
  #cancel: (() => void) | undefined
  #isStopped = false

  constructor(options: LogRotationOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#options.maxBytes >= 0) this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  /** Rotates all logs that are too large. A log that fails does not hold up the others. */
  async rotateAll(): Promise<void> {
    const { runtime, log } = this.#options
    const running = await runtime.containers({ state: { state: ContainerState.CONTAINER_RUNNING } })
    const ids = new Set(running.map(({ id }) => id))
    for (const id of this.#paths.keys()) if (!ids.has(id)) this.#paths.delete(id)
    for (const id of ids) {
      if (this.#isStopped) return
      await this.#check(id).catch((error) => log(`cannot rotate the log of the container ${id}: ${messageOf(error)}`))
    }
  }

  #schedule(): void {
    if (this.#isStopped) return
    this.#cancel = this.#options.schedule(() => {
      this.rotateAll()
        .catch((error) => this.#options.log(`cannot rotate logs of containers: ${messageOf(error)}`))
        .finally(() => this.#schedule())
    }, this.#options.intervalMs)
  }

  async #check(id: string): Promise<void> {
    const { runtime, maxBytes } = this.#options
    const known = this.#paths.get(id)
    const current = known && (await lstat(known).catch(() => undefined))
    if (known && current && (!current.isFile() || current.size < maxBytes)) return
    // The container may have ended since it was listed.
    const status = await runtime.containerStatus(id)
    const path = status?.logPath
    if (!path || status.state !== ContainerState.CONTAINER_RUNNING) return
    this.#paths.set(id, path)
    if (!(await exists(path))) {
      // A kubelet has ended between the rename and the reopening.
      await runtime.reopenLog(id)
    }
    const file = await lstat(path)
    if (file.isFile() && file.size >= maxBytes) await this.#rotate(id, path)
  }

  async #rotate(id: string, path: string): Promise<void> {
    await removeLeftovers(path)
    const folder = dirname(path)
    const rotated = rotatedNames(basename(path), await readdir(folder))
    // One more is made now, and one is the current file.
    const kept = Math.max(0, this.#options.maxFiles - 2)
    const excess = rotated.splice(0, Math.max(0, rotated.length - kept))
    for (const name of excess) await rm(join(folder, name), { force: true })
    for (const name of rotated) if (!isArchived(name)) await compress(join(folder, name))
    await this.#renew(id, path)
  }

  /** Renames the current file, and lets the runtime create a new one. */
  async #renew(id: string, path: string): Promise<void> {
    const rotated = `${path}.${rotationSuffix(new Date(this.#options.now()))}`
    if (await exists(rotated)) throw new Error(`${rotated} exists`)
    await rename(path, rotated)
    try {
      await this.#options.runtime.reopenLog(id)
    } catch (error) {
      // Tried again in the next round. A file that the runtime has created all the same is not replaced.
      await link(rotated, path).then(
        () => unlink(rotated),
        () => {},
      )
      throw error
    }
  }
}

/** Removes all files of a log, as when its container is removed. */
export async function removeLog(path: string): Promise<void> {
  const folder = dirname(path)
  const names = await readdir(folder).catch(() => [])
  for (const name of rotatedNames(basename(path), names)) await rm(join(folder, name), { force: true })
  await rm(path, { force: true })
}

/** Removes files of a compression that was interrupted, and originals whose compression is complete. */
async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path)
  const names = new Set(await readdir(folder))
  const unused = [...names].filter(
    (name) => name.startsWith(`${basename(path)}.`) && (name.endsWith('.tmp') || names.has(`${name}.gz`)),
  )
  for (const name of unused) await rm(join(folder, name), { force: true })
}

async function compress(path: string): Promise<void> {
  const temporary = `${path}.tmp`
  const { mode } = await stat(path)
  try {
    const out = createWriteStream(temporary, { flags: 'wx', mode: mode & 0o777, flush: true })
    await pipeline(createReadStream(path), createGzip(), out)
    await rename(temporary, `${path}.gz`)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await rm(path)
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
