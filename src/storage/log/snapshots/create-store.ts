/** Creates a store on disk from a state: that of a snapshot, or of another store. */
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { StoreState } from '../../state.ts'
import { kinds } from '../layout.ts'
import { Log, type Revisions } from '../log.ts'
import { acquire } from '../owner.ts'
import { Batch } from '../writing/batch.ts'
import { syncDirectory, systemDisk } from '../writing/disk.ts'
import { explained } from './explained.ts'

const segmentBytes = 16 * 1024 * 1024
const batchBytes = 256 * 1024

/**
 * Creates a store with a state in `dataDirectory`, which must be empty. Objects keep their revisions; the store
 * continues at `revision`, and older revisions are compacted. Throws ExplainedError if the directory is not empty or
 * cannot be written.
 */
export async function createStore(dataDirectory: string, state: StoreState, revision: number): Promise<void> {
  const directory = resolve(dataDirectory)
  await explained(directory, async () => {
    if (existsSync(directory) && readdirSync(directory).length > 0)
      throw new ExplainedError(
        `${directory} holds data already: it was left as it is; give another directory or move it away`,
      )
    const temporary = join(dirname(directory), `.${basename(directory)}-${randomBytes(6).toString('hex')}`)
    mkdirSync(temporary, { recursive: true, mode: 0o700 })
    try {
      await fill(temporary, state, { revision, compactedRevision: revision })
      // The directory may exist and be empty.
      if (existsSync(directory)) rmdirSync(directory)
      await rename(temporary, directory)
      syncDirectory(dirname(directory))
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  })
}

async function fill(directory: string, state: StoreState, revisions: Revisions): Promise<void> {
  const log = await Log.make(
    { directory, owner: acquire(directory), disk: systemDisk, segmentBytes, store: randomInt(2 ** 47) },
    revisions,
  )
  try {
    const batch = new Batch()
    for await (const entries of state.portions()) {
      for (const { key, revision, value } of entries) {
        batch.add(kinds.put, key, revision, value)
        if (batch.length < batchBytes) continue
        await log.append(batch, revisions)
        batch.clear()
      }
    }
    if (!batch.isEmpty) await log.append(batch, revisions)
    await log.sealed()
  } finally {
    await log.close()
  }
}
