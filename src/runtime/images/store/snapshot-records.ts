/** Records of the root file systems of containers: their images and layers. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../../lib/explained-error.ts'
import type { Digest } from '../formats/digest.ts'
import type { StorePaths } from './store-paths.ts'

export interface SnapshotRecord {
  readonly image: Digest
  /** Chain IDs, the lowest first. */
  readonly layers: readonly Digest[]
  readonly driver: string
}

export const recordFile = 'snapshot.json'

/** The record of a snapshot; undefined if there is none of that ID, or the machine has failed while it was written. */
export function readSnapshot({ snapshots }: StorePaths, id: string): SnapshotRecord | undefined {
  try {
    const text = readFileSync(join(snapshots, id, recordFile), 'utf8')
    return text === '' ? undefined : (JSON.parse(text) as SnapshotRecord)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The IDs of all snapshots. */
export const snapshotIds = ({ snapshots }: StorePaths): string[] =>
  existsSync(snapshots) ? readdirSync(snapshots) : []

/** The layers that snapshots stand on: they remain when their image is removed. */
export const snapshotLayers = (paths: StorePaths): Digest[] =>
  snapshotIds(paths).flatMap((id) => readSnapshot(paths, id)?.layers ?? [])
