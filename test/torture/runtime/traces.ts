/** The traces that pods leave on the machine while they live: mounts, interfaces, processes, cgroups and files. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { waitFor } from '../../support/wait-for.ts'
import type { Tortured } from './tortured.ts'

export type Traces = Readonly<Record<string, readonly string[]>>

/** The traces that there are now. */
export function tracesOf({ pid: own, folders, emptyFolders }: Tortured): Traces {
  const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n')
  const isOurs = (line: string): boolean => folders.some((folder) => line.includes(folder))
  const processes = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== own)
  return {
    mounts: lines('/proc/self/mounts').filter(isOurs),
    interfaces: readdirSync('/sys/class/net'),
    processes: processes.map((pid) => `${pid} ${commandOf(pid)}`).filter(isOurs),
    cgroups: execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-path', '*typernetes/*'], { encoding: 'utf8' })
      .split('\n')
      .filter((path) => path !== '' && !path.includes('/unified/')),
    files: emptyFolders.filter((folder) => existsSync(folder)).flatMap((folder) => readdirSync(folder)),
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** The traces that were not there before the first pod; waits until they are gone. */
export async function leftovers(tortured: Tortured, before: Traces): Promise<string[]> {
  const found = (): string[] =>
    Object.entries(tracesOf(tortured)).flatMap(([kind, now]) =>
      now.filter((one) => !before[kind]?.includes(one)).map((one) => `left behind, of ${kind}: ${one.slice(0, 200)}`),
    )
  let last: string[] = []
  await waitFor('nothing is left', () => (last = found()).length === 0, { deadlineMs: 20_000 }).catch(() => {})
  return last
}
