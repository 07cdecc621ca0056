/**
 * The folders of volumes of clusters in memory. They exist once there is a volume, and their names contain the process,
 * so that those of ended processes can be removed.
 */
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { bootId, startTimeOf } from '../lib/process/start-time.ts'

const prefix = 't8s-volumes-'

/** The start time without spaces, which `ps` prints on other systems than Linux. */
const startOf = (pid: number): string | undefined => startTimeOf(pid)?.replace(/\W/g, '')

/** The name for folders of a process that runs now; undefined if it does not. */
function processName(pid: number): string | undefined {
  const start = startOf(pid)
  return start === undefined ? undefined : `${prefix}${pid}-${start}-${bootId().slice(0, 8)}-`
}

/** Returns a path that does not exist, for a cluster of this process. */
export const newVolumesPath = (parent = tmpdir()): string =>
  join(parent, `${processName(process.pid) ?? `${prefix}${process.pid}---`}${randomBytes(6).toString('hex')}`)

/** Removes the folders of processes that were killed, except those of other users. */
export async function removeAbandonedVolumes(parent = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => [])
  for (const name of names) {
    const [, pid] = /^t8s-volumes-(\d+)-\w*-\w*-[0-9a-f]{12}$/.exec(name) ?? []
    if (pid === undefined) continue
    const living = processName(Number(pid))
    if (living === undefined || !name.startsWith(living))
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
}

let isRegistered = false

/** Removes the folders of this process when it ends, also by `process.exit`. */
export function removeVolumesAtExit(): void {
  if (isRegistered || !isMainThread) return
  isRegistered = true
  process.once('exit', () => {
    const own = processName(process.pid)
    if (own === undefined) return
    for (const name of readdirSync(tmpdir()))
      if (name.startsWith(own)) rmSync(join(tmpdir(), name), { recursive: true, force: true })
  })
}
