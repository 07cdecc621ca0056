/** Maps the users and groups of a new user namespace. */
import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { textOf } from '../host/processes.ts'
import { succeed } from '../host/run-program.ts'
import { type IdMap, idMaps, mapArguments } from './id-maps.ts'
import { findProgram } from './network-program.ts'

export interface UserMaps {
  readonly uids: readonly IdMap[]
  readonly gids: readonly IdMap[]
  /** True if there are users beside root. */
  readonly hasRanges: boolean
}

/** The maps of this user; only root, if ranges or the programs that may map them are missing. */
export function userMaps(): UserMaps {
  const [uid, gid] = [process.getuid!(), process.getgid!()]
  const owners = [...nameOfUser(), String(uid)]
  const uids = idMaps(uid, owners, textOf('/etc/subuid'))
  const gids = idMaps(gid, owners, textOf('/etc/subgid'))
  if (uids.length > 1 && gids.length > 1 && findProgram('newuidmap') && findProgram('newgidmap'))
    return { uids, gids, hasRanges: true }
  return { uids: idMaps(uid, [], ''), gids: idMaps(gid, [], ''), hasRanges: false }
}

/** None for a user without an entry in `/etc/passwd`. */
function nameOfUser(): string[] {
  try {
    return [userInfo().username]
  } catch {
    return []
  }
}

/** Writes the maps of the namespace of a process, which then is its root. */
export async function writeMaps(pid: number, { uids, gids, hasRanges }: UserMaps): Promise<void> {
  if (hasRanges) {
    await succeed('newuidmap', [String(pid), ...mapArguments(uids)])
    await succeed('newgidmap', [String(pid), ...mapArguments(gids)])
    return
  }
  // The kernel's condition for a map without a program of root.
  writeFileSync(`/proc/${pid}/setgroups`, 'deny')
  writeFileSync(`/proc/${pid}/uid_map`, mapArguments(uids).join(' '))
  writeFileSync(`/proc/${pid}/gid_map`, mapArguments(gids).join(' '))
}
