/** Containers of which the kernel has killed a process for lack of memory, by its log `/dev/kmsg`. */
import { closeSync, constants, openSync, readSync } from 'node:fs'

/** The kernel refuses a read into a smaller buffer than its longest record. */
const recordBytes = 8192
/** A cgroup of a container has its ID as its name. */
const killed = /oom-kill:constraint=.*,task_memcg=([^,]*),task=/
const containerId = /[0-9a-f]{64}/

export class KernelKills {
  readonly #buffer = Buffer.alloc(recordBytes)
  readonly #ids = new Set<string>()
  #file: number | undefined

  /** Without permission to read the log, no kills are known. */
  constructor(path = '/dev/kmsg') {
    try {
      this.#file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    } catch {
      this.#file = undefined
    }
  }

  /** Returns true, once, if a process of the container was killed. */
  take(id: string): boolean {
    for (let record = this.#read(); record !== undefined; record = this.#read()) {
      const [, cgroup = ''] = killed.exec(record) ?? []
      const [found] = containerId.exec(cgroup) ?? []
      if (found) this.#ids.add(found)
    }
    return this.#ids.delete(id)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** Undefined at the end of the log; '' for records that the kernel has overwritten meanwhile. */
  #read(): string | undefined {
    if (this.#file === undefined) return undefined
    try {
      const bytes = readSync(this.#file, this.#buffer)
      return bytes === 0 ? undefined : this.#buffer.toString('utf8', 0, bytes)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPIPE' ? '' : undefined
    }
  }
}
