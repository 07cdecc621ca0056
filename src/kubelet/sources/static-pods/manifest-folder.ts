/**
 * The static pods of a folder of manifests, or of one file: read again when the folder changes, and at an interval.
 * A file that cannot be used is logged; the others work.
 */
import { type FSWatcher, watch } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pod } from '../../../client/kinds.ts'
import { timestamp } from '../../../machinery/values/timestamp.ts'
import { readManifest } from './static-pod.ts'

export interface ManifestFolderOptions {
  /** A folder or a file. */
  readonly path: string
  readonly nodeName: string
  /** The interval of checks (`fileCheckFrequency`), in ms. */
  readonly intervalMs: number
  /** Called with all pods after the first read and after each change. */
  readonly changed: (pods: readonly Pod[]) => void
  readonly log: (line: string) => void
  readonly now: () => number
  readonly schedule: (callback: () => void, ms: number) => () => void
}

/** The state of a file when it was read; the pod is undefined for a file that cannot be used. */
interface KnownFile {
  readonly text: string
  readonly pod: Pod | undefined
}

/** Files that are being written change several times in a row. In ms. */
const settleMs = 50

export class ManifestFolder {
  readonly #options: ManifestFolderOptions
  #known = new Map<string, KnownFile>()
  #last: readonly Pod[] | undefined
  #watcher: FSWatcher | undefined
  #cancel: (() => void) | undefined
  #isReading = false
  #isDirty = false
  #problem = ''
  #isStopped = false

  constructor(options: ManifestFolderOptions) {
    this.#options = options
  }

  /** Resolves after the first read. */
  async start(): Promise<void> {
    await this.#read()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
    this.#watcher?.close()
  }

  /** Reads now, and once more if something changes meanwhile. Never rejects. */
  async #read(): Promise<void> {
    this.#isDirty = true
    if (this.#isReading) return
    this.#isReading = true
    while (this.#isDirty && !this.#isStopped) {
      this.#isDirty = false
      this.#watch()
      await this.#readAll().catch((error: NodeJS.ErrnoException) => this.#fail(error))
    }
    this.#isReading = false
    this.#after(this.#options.intervalMs)
  }

  #after(ms: number): void {
    this.#cancel?.()
    if (!this.#isStopped) this.#cancel = this.#options.schedule(() => void this.#read(), ms)
  }

  /** A folder that does not exist yet is noticed at the next check. */
  #watch(): void {
    if (this.#watcher) return
    const close = (): void => {
      this.#watcher?.close()
      this.#watcher = undefined
    }
    try {
      this.#watcher = watch(this.#options.path, { persistent: false }, () => this.#after(settleMs))
      this.#watcher.on('error', close)
    } catch {
      this.#watcher = undefined
    }
  }

  async #readAll(): Promise<void> {
    const { path } = this.#options
    const files = (await stat(path)).isDirectory()
      ? (await readdir(path))
          .filter((name) => !name.startsWith('.'))
          .sort()
          .map((name) => join(path, name))
      : [path]
    const known = new Map<string, KnownFile>()
    for (const file of files) {
      const entry = await this.#readFile(file)
      if (entry) known.set(file, entry)
    }
    this.#known = known
    this.#problem = ''
    this.#publish(podsOf(known))
  }

  #fail(error: NodeJS.ErrnoException): void {
    const { path, log } = this.#options
    const isMissing = error.code === 'ENOENT'
    const problem = isMissing ? 'path does not exist, ignoring' : error.message
    if (problem !== this.#problem) log(`Unable to read config path ${JSON.stringify(path)}: ${problem}`)
    this.#problem = problem
    if (!isMissing) return
    // The watcher of a removed folder sees nothing of a new one.
    this.#watcher?.close()
    this.#watcher = undefined
    this.#known.clear()
    this.#publish([])
  }

  #publish(pods: readonly Pod[]): void {
    const last = this.#last
    if (last && last.length === pods.length && pods.every((pod, i) => pod === last[i])) return
    this.#last = pods
    if (!this.#isStopped) this.#options.changed(pods)
  }

  /** Undefined for a file that disappears, and for folders. A fault is logged once for each content. */
  async #readFile(file: string): Promise<KnownFile | undefined> {
    const { nodeName, log, now } = this.#options
    const before = this.#known.get(file)
    let text: string | undefined
    try {
      const found = await stat(file)
      if (!found.isFile()) {
        const problem = found.isDirectory()
          ? `Provided manifest path is a directory, not recursing into manifest path ${JSON.stringify(file)}`
          : `Manifest path ${JSON.stringify(file)} is not a directory or file`
        if (before?.text !== problem) log(problem)
        return { text: problem, pod: undefined }
      }
      text = await readFile(file, 'utf8')
      if (before?.text === text) return before
      return { text, pod: readManifest(text, { kind: 'file', place: file, nodeName }, timestamp(now())) }
    } catch (error) {
      if (text === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      const problem = text ?? (error as Error).message
      if (before?.text !== problem)
        log(`Could not process manifest file ${JSON.stringify(file)}: ${(error as Error).message}`)
      return { text: problem, pod: undefined }
    }
  }
}

/** Of two files with the same pod, the later one by name counts. */
function podsOf(files: ReadonlyMap<string, KnownFile>): readonly Pod[] {
  const pods = new Map<string, Pod>()
  for (const { pod } of files.values()) if (pod) pods.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod)
  return [...pods.values()]
}
