/** The job control of shells: the process group that a terminal gives keys to. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Returns true if this process is in the foreground of its terminal; false without a terminal, and if that is unknown.
 */
export function isInForeground(): boolean {
  try {
    const [group, foreground] =
      process.platform === 'linux'
        ? groupsIn(readFileSync('/proc/self/stat', 'utf8'))
        : execFileSync('ps', ['-o', 'pgid=', '-o', 'tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' })
            .trim()
            .split(/\s+/)
            .map(Number)
    return group !== undefined && group > 0 && group === foreground
  } catch {
    return false
  }
}

/** Returns the process group, and that in the foreground of the terminal, of `/proc/PID/stat`. */
export function groupsIn(stat: string): readonly [number, number] {
  // The name, in parentheses, may have spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [Number(fields[2]), Number(fields[5])]
}
