/** Writes a kubeconfig file of our own. Files with other contexts in them are for `merge.ts`. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { writeFileAtomically } from '../lib/files/atomic-file.ts'
import { makeDirectory } from '../lib/files/make-directory.ts'

/**
 * Writes `text` (of `kubeconfigYaml`) to `file`, readable by its owner alone. A file that somebody else wrote is not
 * replaced.
 */
export function writeKubeconfig(file: string, text: string): void {
  try {
    const present = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (present === text) return
    if (present.trim() !== '' && !isOurs(present, text)) {
      throw new ExplainedError(
        `${file} is not a kubeconfig that t8s wrote: it was left as it is; name another file with --kubeconfig, ` +
          'or keep yours and use --merge-kubeconfig',
      )
    }
    makeDirectory(dirname(file), 0o700)
    writeFileAtomically(file, text, 0o600)
  } catch (error) {
    if (error instanceof ExplainedError) throw error
    throw new ExplainedError(
      `cannot write the kubeconfig ${file}: ${reasonOf(error)}; name another file with --kubeconfig`,
      { cause: error },
    )
  }
}

/**
 * Whether a file has the lines of ours, apart from what changes from cluster to cluster. No YAML library, for a quick
 * start.
 */
const isOurs = (present: string, text: string): boolean => masked(present) === masked(text)
const masked = (text: string): string => text.replace(/^( +(?:server|[a-z-]+-data): ).*$/gm, '$1')
