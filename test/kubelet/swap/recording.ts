/** The recording of upstream's kubelet. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedEvent } from './normalized.ts'

/** By the name of a pod. */
export type Recording = Readonly<Record<string, RecordedRun>>

export interface RecordedRun {
  /** By step: the first status that satisfied it. */
  readonly statuses: Readonly<Record<string, unknown>>
  readonly events: readonly RecordedEvent[]
}

export const readRecording = (): Recording =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'recording.json'), 'utf8')) as Recording
