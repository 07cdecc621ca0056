/** Processes of containers, if the engine runs on this machine: numbers of other machines mean something else here. */
import { textOf } from '../../host/processes.ts'

/** True if this process may enter the process of a container and kill it: it has root, and the cgroup is right. */
export const isLocalProcess = (pid: number, containerId: string): boolean =>
  pid > 0 && process.geteuid?.() === 0 && textOf(`/proc/${pid}/cgroup`).includes(containerId)
