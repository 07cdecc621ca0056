/** Cgroups of real nodes (`t8s-HASH`) whose cluster was killed. */
import { lstatSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Cgroup {
  readonly path: string
  /** The instance that it belongs to. */
  readonly instance: string
  /** Processes in it, and in those below. */
  readonly processes: readonly number[]
  /** The time of its last change, in ms since 1970. */
  readonly changedAt: number
}

const name = /^t8s-([0-9a-f]{12})$/

/**
 * Returns the cgroups of real nodes below `root`: that of version 2, or those of each controller. Empty on other
 * systems than Linux.
 */
export function nodeCgroups(root = '/sys/fs/cgroup'): readonly Cgroup[] {
  return [root, ...foldersIn(root)].flatMap((parent) =>
    foldersIn(parent).flatMap((path) => {
      const [, instance] = name.exec(path.slice(parent.length + 1)) ?? []
      if (instance === undefined) return []
      return [{ path, instance, processes: processesIn(path), changedAt: lstatSync(path).mtimeMs }]
    }),
  )
}

/** Removes an empty cgroup and those below. The kernel refuses it (EBUSY) if a process has joined. */
export function removeCgroup(path: string): void {
  for (const child of foldersIn(path)) removeCgroup(child)
  rmdirSync(path)
}

function processesIn(path: string): number[] {
  const own = readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number)
  return [...own, ...foldersIn(path).flatMap(processesIn)]
}

/** Without symbolic links, which give controllers a second name. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name))
  } catch {
    return []
  }
}
