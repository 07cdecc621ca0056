/** A program that is killed and started again under pods. */
import type { PodPlan } from './pod-plan.ts'

export interface Tortured {
  /** The number of its process. */
  readonly pid: number
  /** Folders whose files, mounts and processes belong to pods. */
  readonly folders: readonly string[]
  /** Folders that are empty without pods. */
  readonly emptyFolders: readonly string[]
  start(): Promise<void>
  /** Ends it by a signal, and starts it again. */
  restart(signal: NodeJS.Signals): Promise<void>
  end(signal: NodeJS.Signals): Promise<void>
  /** Runs a pod to its end and removes it. Resolves with the faults that it has found. */
  runPod(plan: PodPlan): Promise<string[]>
}
