/** The sockets of the container runtimes of this machine. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { dataFolders } from '../../../runtime/rootless/user-folders.ts'

/** containerd, CRI-O, and Docker by cri-dockerd. */
const others = ['/run/containerd/containerd.sock', '/run/crio/crio.sock', '/run/cri-dockerd.sock']
const socketName = 'runtime.sock'

/** Returns the URLs of sockets: of `t8s up`, `t8s join` and `t8s runtime`, and where others have theirs. */
export function localRuntimes(folder = dataFolders().runtime, known: readonly string[] = others): string[] {
  const own = [folder, ...foldersIn(folder)].map((one) => join(one, socketName))
  return [...own, ...known].filter((path) => existsSync(path)).map((path) => `unix://${path}`)
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
}
