/** Moves the data of a cluster between a data directory and etcd. The API servers of both must not run. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dataDirectory } from '../../cluster/data-directory.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { type Copied, CopyError, type CopyOptions, copyState } from '../../storage/copy-state.ts'
import type { StoreState } from '../../storage/state.ts'
import { hasStore, type Place, showPlace } from './place.ts'

/** The start of all keys of a store, whatever the prefix in etcd is. */
const registry = '/registry/'

export type { Place } from './place.ts'
export { placeOf, showPlace } from './place.ts'

export type Progress = NonNullable<CopyOptions['progress']>

/** A state with what must be closed in the end. */
export interface OpenedState {
  readonly state: StoreState
  close(): void
}

/**
 * Copies everything and compares it. Revisions only grow: no revision that a client of the source has seen means
 * something else in the target. Rejects with an ExplainedError; then the target must be emptied before another try.
 */
export async function migrate(from: Place, to: Place, progress?: Progress): Promise<Copied> {
  if (!hasStore(from)) throw new ExplainedError(`${showPlace(from)} has no data of a cluster: check --from`)
  const source = await openState(from)
  try {
    const copied = await writeState(source.state, to, source.state.revision, progress)
    const after = await revisionOf(from)
    if (after !== source.state.revision)
      throw new ExplainedError(
        `${showPlace(from)} was changed meanwhile: stop its API servers, empty ${showPlace(to)}, and repeat`,
      )
    return copied
  } finally {
    source.close()
  }
}

/**
 * Writes a state to a place without data. A directory continues at `revision`. Rejects with an ExplainedError if the
 * place has data, or if the copy differs.
 */
export async function writeState(state: StoreState, to: Place, revision: number, progress?: Progress): Promise<Copied> {
  if (to.kind === 'directory') return writeDirectory(state, to.path, revision)
  const { openEtcdStore } = await import('../../storage/etcd/index.ts')
  const store = await openEtcdStore(to.options)
  try {
    return await copyState(state, store, { prefix: registry, ...(progress && { progress }) })
  } catch (error) {
    if (error instanceof CopyError)
      throw new ExplainedError(`nothing can be copied to ${showPlace(to)}: ${error.message}`, { cause: error })
    throw error
  } finally {
    await store.close()
  }
}

async function writeDirectory(state: StoreState, directory: string, revision: number): Promise<Copied> {
  const { createStore } = await import('../../storage/log/snapshots/create-store.ts')
  await createStore(dataDirectory(directory).store, state, revision)
  let entries = 0
  for await (const portion of state.portions()) entries += portion.length
  return { entries, revision }
}

/** Opens the state of a place at present. An etcd sends its database to a temporary file. */
async function openState(place: Place): Promise<OpenedState> {
  if (place.kind === 'directory') return (await import('../../storage/log/snapshots/read-log.ts')).readLog(place.store)
  const [{ saveEtcdSnapshot }, { openEtcdSnapshot }] = await Promise.all([
    import('../../storage/etcd/index.ts'),
    import('../../storage/etcd/snapshots/etcd-snapshot.ts'),
  ])
  const folder = mkdtempSync(join(tmpdir(), 't8s-migrate-'))
  try {
    const file = join(folder, 'etcd.db')
    await saveEtcdSnapshot(place.options, file)
    return openEtcdSnapshot(file, { prefix: `${place.prefix}/` })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function revisionOf(place: Place): Promise<number> {
  if (place.kind === 'directory') {
    const { state, close } = await openState(place)
    close()
    return state.revision
  }
  const { openEtcdStore } = await import('../../storage/etcd/index.ts')
  const store = await openEtcdStore(place.options)
  try {
    return await store.currentRevision()
  } finally {
    await store.close()
  }
}
