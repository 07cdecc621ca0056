/** The folders of images, records and sockets: those of the machine for root, and of the user otherwise. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { socketFolder } from '../../lib/rootless/socket-folder.ts'

export interface DataFolders {
  /** Images and records. */
  readonly data: string
  /** Sockets, which a reboot removes. */
  readonly runtime: string
}

/** A process in user namespaces has the folders of the user who started it. */
export function dataFolders({ env = process.env, uid = process.geteuid?.() ?? 0 } = {}): DataFolders {
  if (uid === 0 && socketFolder(env) === undefined) return { data: '/var/lib/typernetes', runtime: '/run/typernetes' }
  return {
    data: join(env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local/share'), 'typernetes'),
    runtime: join(env.XDG_RUNTIME_DIR || `/tmp/typernetes-${uid}`, 'typernetes'),
  }
}
