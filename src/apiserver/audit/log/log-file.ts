/**
 * A log file that begins anew when it is full: the full one gets the time into its name, and old ones go by age and
 * number. Names, modes and rules are those of the logger that upstream uses: `audit-2026-11-21T20-02-33.000.log` beside
 * `audit.log`.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'

export interface LogFileOptions {
  readonly path: string
  /** Megabytes; 100 unless said. */
  readonly maxSize?: number
  /** Days that full files are kept; for ever unless said. */
  readonly maxAge?: number
  /** Full files that are kept; all unless said. */
  readonly maxBackups?: number
  /** Whether full files are compressed. */
  readonly compress?: boolean
  /** Told what goes wrong beside writing. */
  readonly log: (line: string) => void
}

const megabyte = 1024 * 1024
const usualMegabytes = 100
const dayMs = 86_400_000

export class LogFile {
  readonly #options: LogFileOptions
  readonly #limit: number
  #descriptor: number
  /** Pipes and devices are never full, and their names stay theirs. */
  readonly #isFile: boolean
  #size: number
  #tidying: Promise<void> = Promise.resolve()

  /** Makes the file and its folder if they are missing. Throws what the file system throws. */
  constructor(options: LogFileOptions) {
    this.#options = options
    this.#limit = (options.maxSize || usualMegabytes) * megabyte
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 })
    this.#descriptor = open(options.path)
    const stat = fstatSync(this.#descriptor)
    this.#isFile = stat.isFile()
    this.#size = stat.size
    this.#tidy()
  }

  /** Writes whole lines, to one file. Throws what the file system throws; then none of them may be there, or some. */
  append(bytes: Uint8Array): void {
    if (this.#isFile && this.#size > 0 && this.#size + bytes.length > this.#limit) this.#rotate()
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(this.#descriptor, bytes, at)
      at += written
      this.#size += written
    }
  }

  /** Resolves when old files are as they should be. */
  async close(): Promise<void> {
    closeSync(this.#descriptor)
    await this.#tidying
  }

  #rotate(): void {
    const { path } = this.#options
    renameSync(path, join(dirname(path), this.#nameAt(new Date())))
    const descriptor = open(path)
    closeSync(this.#descriptor)
    this.#descriptor = descriptor
    this.#size = 0
    this.#tidy()
  }

  #nameAt(time: Date): string {
    const { prefix, suffix } = partsOf(this.#options.path)
    // Two files that are full in one millisecond must not be one.
    const taken = new Set(readdirSync(dirname(this.#options.path)))
    for (let ms = time.getTime(); ; ms++) {
      const name = `${prefix}${new Date(ms).toISOString().slice(0, -1).replaceAll(':', '-')}${suffix}`
      if (!taken.has(name) && !taken.has(`${name}.gz`)) return name
    }
  }

  /** Removes what is too old or too much, and compresses the rest, beside the work. */
  #tidy(): void {
    const { maxAge, maxBackups, compress, log } = this.#options
    if (!this.#isFile || (!maxAge && !maxBackups && !compress)) return
    this.#tidying = this.#tidying
      .then(() => this.#tidyOnce())
      .catch((error) => log(`audit log: old files: ${(error as Error).message}`))
  }

  async #tidyOnce(): Promise<void> {
    const { path, maxAge, maxBackups, compress } = this.#options
    const directory = dirname(path)
    const files = fullFiles(path)
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

/** The full files beside a log file, the newest first. */
function fullFiles(path: string): { readonly name: string; readonly time: number }[] {
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
