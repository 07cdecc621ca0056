/** Replaces a kubeconfig atomically: follows links, keeps the owner, and sets mode 0600. */
import { lstatSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { makeDirectory } from '../../../lib/files/make-directory.ts'

const mode = 0o600

/** Writes `text` to `file`; undefined removes the file. If it throws an ExplainedError, nothing was changed. */
export function replaceFile(file: string, text: string | undefined): void {
  try {
    const target = resolveLink(file)
    if (text === undefined) {
      rmSync(target, { force: true })
      return
    }
    makeDirectory(dirname(target), 0o700)
    const before = statSync(target, { throwIfNoEntry: false })
    // root keeps the owner of the file; others cannot set it.
    writeFileAtomically(target, text, mode, process.getuid?.() === 0 ? before : undefined)
  } catch (error) {
    throw new ExplainedError(
      `cannot write ${file}: ${reasonOf(error)}; nothing was changed: make it writable, or set KUBECONFIG to ` +
        'another file',
      { cause: error },
    )
  }
}

/** The target of a link, which need not exist. */
function resolveLink(file: string): string {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (!stat?.isSymbolicLink()) return file
  if (statSync(file, { throwIfNoEntry: false })) return realpathSync(file)
  return resolve(dirname(file), readlinkSync(file))
}
