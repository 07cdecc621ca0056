/** The links `/var/log/containers/POD_NAMESPACE_CONTAINER-ID.log` to logs, which collectors of logs read. */
import { mkdir, readdir, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../lib/message-of.ts'
import type { PodIdentity } from '../cri/labels.ts'

const suffix = '.log'
/** The longest name of a file, in bytes. */
const maxNameBytes = 255

export interface LinkedContainer {
  readonly pod: PodIdentity
  readonly name: string
  readonly id: string
  /** The current file of its log. */
  readonly logPath: string
}

export class LogLinks {
  readonly #folder: string
  readonly #log: (line: string) => void

  /** `folder` is `/var/log/containers`. */
  constructor(folder: string, log: (line: string) => void) {
    this.#folder = folder
    this.#log = log
  }

  /** Creates the link of a container that has started. Failures are logged: the container does not depend on it. */
  async create(container: LinkedContainer): Promise<void> {
    const path = this.#pathOf(container)
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o755 })
      await stat(container.logPath)
      await symlink(container.logPath, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        this.#log(`cannot create the link ${path} to the log ${container.logPath}: ${messageOf(error)}`)
    }
  }

  async remove(container: LinkedContainer): Promise<void> {
    await rm(this.#pathOf(container), { force: true })
  }

  /** Removes links to logs that do not exist, except those of running containers, which may be being rotated. */
  async removeDangling(runningIds: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const id = /-([^-]+)\.log$/.exec(name)?.[1]
      if (!id || runningIds.has(id)) continue
      const path = join(this.#folder, name)
      const isDangling = await stat(path).then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
      )
      if (isDangling) await rm(path, { force: true })
    }
  }

  #pathOf({ pod, name, id }: LinkedContainer): string {
    const base = `${pod.name}_${pod.namespace}_${name}-${id}`
    return join(this.#folder, `${base.slice(0, maxNameBytes - suffix.length)}${suffix}`)
  }
}
