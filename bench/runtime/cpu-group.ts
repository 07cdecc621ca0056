/** The CPU time of a cgroup: that of its processes, and of those which have ended, also in cgroups below. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CgroupReader } from '../../src/node/cgroups/cgroup-reader.ts'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'

const root = '/sys/fs/cgroup'
const reader = new CgroupReader(root, '/proc', () => Date.now())

export class CpuGroup {
  readonly #path: string
  readonly #file: string

  constructor(path: string) {
    const tree = findCgroups()
    tree.create(path)
    this.#path = path
    this.#file = join(root, tree.version === 1 ? 'cpuacct' : '', path, 'cgroup.procs')
  }

  /** Moves a process into the group; those that it starts later are in the group, too. */
  add(pid: number): void {
    writeFileSync(this.#file, String(pid))
  }

  /** A command line that runs another one in the group. */
  within(command: readonly string[]): readonly [string, ...string[]] {
    return ['sh', '-c', `echo $$ >${this.#file}; exec "$@"`, 'sh', ...command]
  }

  /** Removes the group, which has no process. */
  remove(): Promise<void> {
    return findCgroups().remove(this.#path)
  }

  /** In ms, since the group was made. */
  usedMs(): number {
    return (reader.read(this.#path)?.cpu.usage ?? 0) / 1e6
  }
}
