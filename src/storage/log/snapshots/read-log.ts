/** Reads the state of a log without opening it: another process may be writing to it. */
import { existsSync } from 'node:fs'
import { errorCode } from '../../../lib/explained-error.ts'
import { VersionIndex } from '../../mvcc/version-index.ts'
import type { StoreState } from '../../state.ts'
import { everything } from '../../state.ts'
import { type Entry, StoreOpenError } from '../../store.ts'
import { valueIn } from '../layout.ts'
import { type LoadedLog, loadLog } from '../segments/load.ts'
import { type Location, RecordReader, segmentNumbers } from '../segments/segment.ts'
import { Window } from '../segments/window.ts'

/** Retries because another process may delete segments during a read. */
const attempts = 20
const entriesPerPortion = 500

export interface ReadLog {
  readonly state: StoreState
  /** Releases the files. */
  close(): void
}

/** Returns the newest durable state. Throws StoreOpenError if the directory is not a store, or damaged. */
export async function readLog(directory: string): Promise<ReadLog> {
  const log = await loadForReading(directory)
  const index = new VersionIndex<Location>()
  index.fill(log.versions, log.revision)
  return {
    state: { revision: log.revision, portions: () => portionsOf(index, log.revision) },
    close() {
      for (const segment of log.segments) segment.close()
    },
  }
}

async function loadForReading(directory: string): Promise<LoadedLog> {
  for (let attempt = 1; ; attempt++) {
    try {
      const log = existsSync(directory) ? loadLog(directory, { flags: 'r' }) : undefined
      if (log) return log
      throw new StoreOpenError(`${directory} holds no store: check --data-dir`)
    } catch (error) {
      // A segment has just been deleted, or a new one begun.
      const isPassing = errorCode(error) === 'ENOENT' || error instanceof StoreOpenError
      if (
        !isPassing ||
        attempt === attempts ||
        (existsSync(directory) && segmentNumbers(directory).length === 0) ||
        !existsSync(directory)
      )
        throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

async function* portionsOf(index: VersionIndex<Location>, revision: number): AsyncGenerator<readonly Entry[]> {
  const reader = new RecordReader(new Window())
  let entries: Entry[] = []
  for (const version of index.range(everything.start, everything.end, revision)) {
    entries.push({
      key: version.key,
      revision: version.revision,
      value: Buffer.from(valueIn(reader.record(version.value!, version.key, version.revision))),
    })
    if (entries.length < entriesPerPortion) continue
    yield entries
    entries = []
  }
  yield entries
}
