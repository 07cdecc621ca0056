/**
 * A log file with rotation: a full file gets a timestamp in its name, and old files are deleted by age and number.
 * Names, modes and rules are those of upstream's logger: `audit-2026-11-21T20-02-33.000.log` beside `audit.log`.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'

export interface LogFileOptions {
  readonly path: string
  /** In megabytes. Default: 100. */
  readonly maxSize?: number
  /** The retention of rotated files in days. Default: unlimited. */
  readonly maxAge?: number
  /** The number of rotated files to retain. Default: all. */
  readonly maxBackups?: number
  /** Compresses rotated files. */
  readonly compress?: boolean
  /** Logs errors other than write errors. */
  readonly log: (line: string) => void
}

const megabyte = 1024 * 1024
const defaultMegabytes = 100
const dayMs = 86_400_000

export class LogFile {
  readonly #options: LogFileOptions
  readonly #limit: number
  #descriptor: number
  /** False for pipes and devices, which are never rotated. */
  readonly #isFile: boolean
  #size: number
  #cleaningUp: Promise<void> = Promise.resolve()

  /** Creates the file and its folder if they are missing. Throws the file system's error. */
  constructor(options: LogFileOptions) {
    this.#options = options
    this.#limit = (options.maxSize || defaultMegabytes) * megabyte
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 })
    this.#descriptor = open(options.path)
    const stat = fstatSync(this.#descriptor)
    this.#isFile = stat.isFile()
    this.#size = stat.size
    this.#cleanUp()
  }

  /** Writes whole lines to one file. Throws the file system's error; then some of the lines may be written. */
  append(bytes: Uint8Array): void {
    if (this.#isFile && this.#size > 0 && this.#size + bytes.length > this.#limit) this.#rotate()
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(this.#descriptor, bytes, at)
      at += written
      this.#size += written
    }
  }

  /** Resolves when the clean-up of old files is done. */
  async close(): Promise<void> {
    closeSync(this.#descriptor)
    await this.#cleaningUp
  }

  #rotate(): void {
    const { path } = this.#options
    renameSync(path, join(dirname(path), this.#nameAt(new Date())))
    const descriptor = open(path)
    closeSync(this.#descriptor)
    this.#descriptor = descriptor
    this.#size = 0
    this.#cleanUp()
  }

  #nameAt(time: Date): string {
    const { prefix, suffix } = partsOf(this.#options.path)
    // Two files rotated in the same millisecond need different names.
    const taken = new Set(readdirSync(dirname(this.#options.path)))
    for (let ms = time.getTime(); ; ms++) {
      const name = `${prefix}${new Date(ms).toISOString().slice(0, -1).replaceAll(':', '-')}${suffix}`
      if (!taken.has(name) && !taken.has(`${name}.gz`)) return name
    }
  }

  /** Deletes old files and compresses the others in the background. */
  #cleanUp(): void {
    const { maxAge, maxBackups, compress, log } = this.#options
    if (!this.#isFile || (!maxAge && !maxBackups && !compress)) return
    this.#cleaningUp = this.#cleaningUp
      .then(() => this.#deleteOldFiles())
      .catch((error) => log(`audit log: old files: ${(error as Error).message}`))
  }

  async #deleteOldFiles(): Promise<void> {
    const { path, maxAge, maxBackups, compress } = this.#options
    const directory = dirname(path)
    const files = rotatedFiles(path)
    const tooOld = maxAge ? Date.now() - maxAge * dayMs : 0
    for (const [i, { name, time }] of files.entries()) {
      if ((maxBackups && i >= maxBackups) || time < tooOld) rmSync(join(directory, name), { force: true })
      else if (compress && !name.endsWith('.gz'))
        await (await import('./compress-file.ts')).compressFile(join(directory, name))
    }
  }
}

const open = (path: string): number => openSync(path, 'a', 0o600)

const partsOf = (path: string): { readonly prefix: string; readonly suffix: string } => {
  const suffix = extname(path)
  return { prefix: `${basename(path, suffix)}-`, suffix }
}

/** The rotated files of a log file, newest first. */
function rotatedFiles(path: string): { readonly name: string; readonly time: number }[] {
  const { prefix, suffix } = partsOf(path)
  return readdirSync(dirname(path))
    .flatMap((name) => {
      const plain = name.endsWith('.gz') ? name.slice(0, -3) : name
      if (!plain.startsWith(prefix) || !plain.endsWith(suffix)) return []
      const stamp = plain.slice(prefix.length, suffix ? -suffix.length : undefined)
      const [, day, hours, minutes, seconds] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(stamp) ?? []
      return day ? [{ name, time: Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) }] : []
    })
    .sort((a, b) => b.time - a.time)
}
