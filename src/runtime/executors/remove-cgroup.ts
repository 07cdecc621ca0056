/** Removes what executors leave behind: crun 1.8 leaves a cgroup if a process of it ends late, or if it is killed. */
import { findCgroups } from '../../node/cgroups/tree/find-cgroups.ts'
import { killProcessesIn } from '../host/cgroup-processes.ts'
import type { Executor } from './executor.ts'

/** Kills all processes of the container that was prepared in a folder, and removes its cgroup. */
export async function removeCgroup(executor: Executor, folder: string): Promise<void> {
  const path = cgroupOf(executor, folder)
  if (path === undefined) return
  killProcessesIn(path)
  await findCgroups().remove(path)
}

/** Undefined without a configuration: it was not prepared, or the machine has started again since. */
function cgroupOf(executor: Executor, folder: string): string | undefined {
  try {
    return executor.specOf(folder).linux.cgroupsPath
  } catch {
    return undefined
  }
}
