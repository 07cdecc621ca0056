/**
 * The processes that a file of tests leaves behind. The test runner waits for the end of all output of a file, so one
 * forgotten server would hold up the whole run. Processes are known by a variable of their environment.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** The path of the file of tests that has started a process, directly or not. */
export const fileVariable = 'T8S_TEST_FILE'

/** Ends the processes of a file, and returns their command lines. Does nothing on other systems than Linux. */
export function endLeftovers(file: string): string[] {
  return processesOf(file).flatMap((pid) => {
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      return []
    }
    return [command]
  })
}

/** Without this process and its ancestors. */
function processesOf(file: string): number[] {
  const entry = `${fileVariable}=${file}\0`
  const ours = new Set([process.pid, process.ppid])
  return processIds().filter((pid) => {
    if (ours.has(pid)) return false
    return `\0${read(`/proc/${pid}/environ`)}`.includes(`\0${entry}`) && !isZombie(pid)
  })
}

const isZombie = (pid: number): boolean => /^State:\s+Z/m.test(read(`/proc/${pid}/status`))

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** Empty if the process has ended, or belongs to somebody else. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
