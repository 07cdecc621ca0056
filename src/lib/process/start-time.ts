/** Start times of processes, which distinguish a process from a later one with the same pid. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The start time of a process, in a unit that depends on the system; undefined if it does not exist. */
export function startTimeOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    // The name in parentheses may contain any character. The start time is the 22nd field, the state ("Z": zombie) the
    // third.
    const fields = readIfPresent(`/proc/${pid}/stat`)
      ?.replace(/^.*\) /s, '')
      .split(' ')
    return fields && fields[0] !== 'Z' && fields[0] !== 'X' ? fields[19] : undefined
  }
  try {
    return (
      execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim() || undefined
    )
  } catch {
    return undefined
  }
}

/** Identifies this boot of the machine: processes of an earlier one have ended. Empty where the system has none. */
export const bootId = (): string => readIfPresent('/proc/sys/kernel/random/boot_id') ?? ''

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
