/**
 * Temporary folders whose names contain the process, so that a later process can remove those of processes that were
 * killed.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { bootId, startTimeOf } from './start-time.ts'

/** The start time without spaces, which `ps` prints on other systems than Linux. */
const startOf = (pid: number): string | undefined => startTimeOf(pid)?.replace(/\W/g, '')

/** A folder that is removed when it is disposed of. */
export interface ProcessFolder extends Disposable {
  readonly path: string
}

export class ProcessFolders {
  readonly #prefix: string
  readonly #parent: string
  #isRegistered = false

  /** `prefix` is the start of all names, such as `t8s-volumes-`. Default of `parent`: the system's temporary folder. */
  constructor(prefix: string, parent = tmpdir()) {
    this.#prefix = prefix
    this.#parent = parent
  }

  /** Returns a path that does not exist, for this process. */
  newPath(): string {
    const name = this.#nameFor(process.pid) ?? `${this.#prefix}${process.pid}---`
    return join(this.#parent, `${name}${randomBytes(6).toString('hex')}`)
  }

  /** Creates a folder of this process that only its user can read, and begins to remove abandoned ones. */
  create(): ProcessFolder {
    void this.removeAbandoned()
    const path = this.newPath()
    mkdirSync(path, { mode: 0o700 })
    return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
  }

  /** Removes the folders of this user's processes that have ended. */
  async removeAbandoned(): Promise<void> {
    const names = await readdir(this.#parent).catch(() => [])
    for (const name of names.filter((name) => name.startsWith(this.#prefix))) {
      const [, pid] = /^(\d+)-\w*-\w*-[0-9a-f]{12}$/.exec(name.slice(this.#prefix.length)) ?? []
      if (pid === undefined) continue
      const living = this.#nameFor(Number(pid))
      if (living === undefined || !name.startsWith(living)) await removeOwn(join(this.#parent, name))
    }
  }

  /** Removes the folders of this process when it ends, also by `process.exit`. */
  removeAtExit(): void {
    if (this.#isRegistered || !isMainThread) return
    this.#isRegistered = true
    process.once('exit', () => {
      const own = this.#nameFor(process.pid)
      if (own === undefined) return
      for (const name of readdirSync(this.#parent))
        if (name.startsWith(own)) rmSync(join(this.#parent, name), { recursive: true, force: true })
    })
  }

  /** The start of the names for a process that runs now; undefined if it does not. */
  #nameFor(pid: number): string | undefined {
    const start = startOf(pid)
    return start === undefined ? undefined : `${this.#prefix}${pid}-${start}-${bootId().slice(0, 8)}-`
  }
}

/** The system's temporary folder is shared with other users, whose folders stay, also if root asks. */
async function removeOwn(path: string): Promise<void> {
  try {
    if ((await lstat(path)).uid === process.getuid?.()) await rm(path, { recursive: true, force: true })
  } catch {
    // Another process has removed it, or it cannot be removed: a later one tries.
  }
}
