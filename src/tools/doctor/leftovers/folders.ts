/** Folders in `/run/typernetes` of real nodes whose cluster was killed: one that stops removes its socket. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, hint } from '../finding.ts'

/** Returns the folders below `root` with a socket on which no instance of `running` listens. */
export function killedFolders(running: ReadonlySet<string>, root = '/run/typernetes'): readonly string[] {
  if (!existsSync(root)) return []
  return readdirSync(root)
    .filter((name) => /^[0-9a-f]{12}$/.test(name) && !running.has(name))
    .map((name) => join(root, name))
    .filter((folder) => existsSync(join(folder, 'runtime.sock')))
}

/** They are not removed by `--fix`: the cluster finds its containers by them if it starts again. */
export const folderFindings = (folders: readonly string[]): Finding[] =>
  folders.length === 0
    ? []
    : [
        hint(
          `folders of killed clusters: ${folders.join(', ')}`,
          `start those clusters again, or remove the folders: sudo rm -r ${folders.join(' ')}`,
        ),
      ]
