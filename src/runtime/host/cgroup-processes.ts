/**
 * The processes in the cgroup of a container whose first process has ended. The kernel ends them if that process was
 * the first one of a PID namespace, and not if the container shares the processes of its pod or of the machine.
 */
import { findCgroups } from '../../node/cgroups/tree/find-cgroups.ts'

/** Kills all processes of a cgroup, such as `/typernetes/ID`, and of those below. */
export function killProcessesIn(cgroup: string): void {
  for (const pid of findCgroups().processes(cgroup)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
}
