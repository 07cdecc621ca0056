/** The folder of a `t8s run`, for its kubeconfig. It is deleted at the end, or by the next run if a run was killed. */
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startTimeOf } from '../../../lib/process/start-time.ts'

export interface RunFolder extends Disposable {
  readonly path: string
}

/** The process and its start time, which distinguishes it from a later process with the same pid. */
const namePattern = /^t8s-run-(\d+)-([\w:]+)$/

/** Creates the folder of this process in `parent`, with mode 0700, and deletes those of killed processes. */
export function runFolder(parent: string, startOf: (pid: number) => string | undefined = startTimeOf): RunFolder {
  deleteAbandoned(parent, startOf)
  const path = join(parent, `t8s-run-${process.pid}-${nameOf(startOf(process.pid))}`)
  mkdirSync(path, { mode: 0o700 })
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

function deleteAbandoned(parent: string, startOf: (pid: number) => string | undefined): void {
  for (const name of readdirSync(parent)) {
    const [, pid, start] = namePattern.exec(name) ?? []
    if (pid === undefined || nameOf(startOf(Number(pid))) === start) continue
    const path = join(parent, name)
    // The folder for temporary files is shared with other users.
    if (lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.())
      rmSync(path, { recursive: true, force: true })
  }
}

const nameOf = (start: string | undefined): string => (start ?? 'ended').replace(/[^\w:]+/g, '_')
