/** Removes what only reads before a revision need: found in the log, so that nothing has to be searched for. */
import { type Environment, saveCompactedRevision } from './environment.ts'
import type { GroupCommit } from './group-commit.ts'
import { decodeChanges, type VersionedKey } from './layout.ts'

/** Versions that one write removes: about a millisecond. */
const versionsPerWrite = 200

/**
 * Records the compacted revision, then removes in small writes, each of which leaves a store that can be opened.
 * What a crash leaves over, the next compaction removes.
 */
export async function compactHistory(environment: Environment, commits: GroupCommit, revision: number): Promise<void> {
  await commits.maintain((tables) => saveCompactedRevision(tables, revision))
  for (;;) {
    await environment.reopening
    const records: number[] = []
    const versions: VersionedKey[] = []
    for (const { key: newest, value: record } of environment.tables.log.getRange({ start: 0 })) {
      if (newest > revision || versions.length >= versionsPerWrite) break
      records.push(newest)
      for (const { key, revision, deleted, previousRevision } of decodeChanges(record, 0)) {
        if (previousRevision > 0) versions.push({ key, revision: previousRevision, deleted: false })
        if (deleted) versions.push({ key, revision, deleted })
      }
    }
    if (records.length === 0) return
    await commits.maintain(({ kv, log }) => {
      for (const version of versions) kv.remove(version)
      for (const record of records) log.remove(record)
    })
  }
}
