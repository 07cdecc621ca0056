/** The folder of a process outside of user namespaces, for sockets and files of the process inside. */
import { once } from 'node:events'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { ExplainedError, errorCode } from '../../lib/explained-error.ts'
import { portsSocket } from './ports/port-messages.ts'
import { dataFolders } from './user-folders.ts'

const prefix = 'rootless-'

export interface OwnFolder {
  readonly path: string
  /** The user's folder of sockets, in which it is. */
  readonly parent: string
}

/** Creates a folder. Throws an ExplainedError if its parent belongs to another user. */
export async function makeOwnFolder(): Promise<OwnFolder> {
  const { runtime: parent } = dataFolders()
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  for (const folder of [dirname(parent), parent])
    if (lstatSync(folder).uid !== process.getuid!())
      throw new ExplainedError(`the folder ${folder} belongs to another user: set XDG_RUNTIME_DIR to a folder of yours`)
  chmodSync(parent, 0o700)
  await removeRemains(parent)
  return { path: mkdtempSync(join(parent, prefix)), parent }
}

/** Removes folders of processes that were killed. */
async function removeRemains(parent: string): Promise<void> {
  for (const name of readdirSync(parent).filter((one) => one.startsWith(prefix))) {
    const socket = connect(join(parent, name, portsSocket))
    try {
      await once(socket, 'connect')
    } catch (error) {
      // The folder of a process that starts has no socket yet.
      if (errorCode(error) === 'ECONNREFUSED') rmSync(join(parent, name), { recursive: true, force: true })
    } finally {
      socket.destroy()
    }
  }
}
