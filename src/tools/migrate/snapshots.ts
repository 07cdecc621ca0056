/** Snapshots of an etcd, and the restoring of both kinds of snapshots to both kinds of places. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { ExplainedError, errorCode, reasonOf } from '../../lib/explained-error.ts'
import { type OpenedState, type Place, type Progress, writeState } from './index.ts'

/** The first bytes of a snapshot of a data directory. */
const ownMagic = 't8s-snap'

/** Saves the database of an etcd to a new file. Rejects with an ExplainedError if the file exists. */
export async function saveSnapshotOf(
  { options }: Extract<Place, { readonly kind: 'etcd' }>,
  file: string,
  progress: (written: number, all: number) => void,
): Promise<void> {
  if (existsSync(file))
    throw new ExplainedError(`${file} exists already: it was left as it is; give another name or move it away`)
  const { saveEtcdSnapshot } = await import('../../storage/etcd/index.ts')
  try {
    await saveEtcdSnapshot(options, file, progress)
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    throw new ExplainedError(`cannot write ${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * Restores a snapshot of a data directory or of an etcd. A directory continues far above the revisions that clients
 * have seen. Rejects with an ExplainedError or StoreOpenError for a file that is none, and for a place with data.
 */
export async function restoreSnapshotTo(file: string, to: Place, progress: Progress): Promise<void> {
  // A file that cannot be read gets the message of the usual case.
  if (beginsWith(file, ownMagic) === false) {
    const { openEtcdSnapshot } = await import('../../storage/etcd/snapshots/etcd-snapshot.ts')
    return restore(openEtcdSnapshot(file), to, progress)
  }
  const { openSnapshot } = await import('../../storage/log/snapshots/snapshot-file.ts')
  return restore(openSnapshot(file), to, progress)
}

async function restore({ state, close }: OpenedState, to: Place, progress: Progress): Promise<void> {
  const { revisionBump } = await import('../../storage/log/log.ts')
  try {
    await writeState(state, to, state.revision + revisionBump, progress)
  } finally {
    close()
  }
}

/** Undefined if the file cannot be read. */
function beginsWith(file: string, magic: string): boolean | undefined {
  try {
    const fd = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(magic.length)
      readSync(fd, bytes, 0, magic.length, 0)
      return bytes.toString('latin1') === magic
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
