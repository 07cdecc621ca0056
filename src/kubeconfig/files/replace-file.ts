/** Puts another text into a kubeconfig: at once, through links, for the same owner, readable by that owner alone. */
import { lstatSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { makeDirectory } from '../../lib/files/make-directory.ts'

const mode = 0o600

/**
 * Writes `text` to `file`, or removes the file where there is no text. Throws an ExplainedError that says that nothing
 * was changed.
 */
export function replaceFile(file: string, text: string | undefined): void {
  try {
    const target = behindLinks(file)
    if (text === undefined) {
      rmSync(target, { force: true })
      return
    }
    makeDirectory(dirname(target), 0o700)
    const before = statSync(target, { throwIfNoEntry: false })
    // Another's file stays theirs, which only root can see to.
    writeFileAtomically(target, text, mode, process.getuid?.() === 0 ? before : undefined)
  } catch (error) {
    throw new ExplainedError(
      `cannot write ${file}: ${reasonOf(error)}; nothing was changed: make it writable, or name another file by ` +
        'KUBECONFIG',
      {
        cause: error,
      },
    )
  }
}

/** Where a file is in truth; a link may point to what is still to be made. */
function behindLinks(file: string): string {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (!stat?.isSymbolicLink()) return file
  if (statSync(file, { throwIfNoEntry: false })) return realpathSync(file)
  return resolve(dirname(file), readlinkSync(file))
}
