/** The running programs of a build, found in the list of processes. */
import { readdirSync, readFileSync } from 'node:fs'

/**
 * Returns the start times of processes whose command line names a file in `folder`, in ms since 1970. Processes of
 * other users count too. Undefined without Linux.
 */
export function programStarts(folder: string, proc = '/proc'): number[] | undefined {
  const bootMs = bootTimeMs(proc)
  if (bootMs === undefined) return undefined
  return readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const isProgram = read(`${proc}/${pid}/cmdline`)
        .split('\0')
        .some((word) => word.includes(`${folder}/`))
      const ticks = isProgram ? startTicks(read(`${proc}/${pid}/stat`)) : undefined
      return ticks === undefined ? [] : [bootMs + ticks * 10]
    })
}

function bootTimeMs(proc: string): number | undefined {
  const seconds = /^btime (\d+)$/m.exec(read(`${proc}/stat`))?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** In hundredths of a second since the boot (proc_pid_stat(5)). The name in parentheses may contain any character. */
function startTicks(stat: string): number | undefined {
  const ticks = stat.replace(/^.*\) /s, '').split(' ')[19]
  return ticks === undefined ? undefined : Number(ticks)
}

/** Empty for a file that is missing: the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
