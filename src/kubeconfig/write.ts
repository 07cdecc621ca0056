/** Writes the kubeconfig of a t8s cluster to its own file. `merge.ts` writes to files with other contexts. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ExplainedError, reasonOf } from '../lib/explained-error.ts'
import { writeFileAtomically } from '../lib/files/atomic-file.ts'
import { makeDirectory } from '../lib/files/make-directory.ts'

/** Writes `text` (of `kubeconfigYaml`) to `file` with mode 0600. Does not replace files of other programs. */
export function writeKubeconfig(file: string, text: string): void {
  try {
    const present = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (present === text) return
    if (present.trim() !== '' && !isOurs(present, text)) {
      throw new ExplainedError(
        `${file} is not a kubeconfig that t8s wrote: it was not changed; name another file with --kubeconfig, ` +
          'or use --merge-kubeconfig',
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
 * True if a file has the lines of a t8s kubeconfig, except the values that differ between clusters. Uses no YAML
 * library, for a fast start.
 */
const isOurs = (present: string, text: string): boolean => masked(present) === masked(text)
const masked = (text: string): string => text.replace(/^( +(?:server|[a-z-]+-data): ).*$/gm, '$1')
