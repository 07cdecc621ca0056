/** The messages between a cluster and the process of a machine. */
import type { RealNodeTask } from '../../real-node/thread/messages.ts'

export type MachineCommand = { readonly task: RealNodeTask } | { readonly stop: true }

export type MachineReport =
  /** The namespaces exist, and a task can be sent. */
  | { readonly ready: true }
  | { readonly log: string }
  /** The node is registered. */
  | { readonly started: true }
  | { readonly failed: string }
