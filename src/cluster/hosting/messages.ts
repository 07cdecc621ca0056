/** The messages between a program and the thread of its clusters. */
import type { Severity } from '../../lib/log/log.ts'
import type { ClockOrder } from '../clock/cluster-clock.ts'
import type { ClusterOptions, StopOptions } from '../cluster-options.ts'
import type { UserIdentity } from '../credentials/cluster-users.ts'
import type { RunningCluster } from '../run-cluster.ts'

/** The options of a cluster that can be sent: without functions. */
export interface SentOptions {
  readonly options: ClusterOptions
  readonly hasLog: boolean
  readonly hasNotice: boolean
}

/** An action of a program. */
export type HostOrder =
  | { readonly start: SentOptions }
  | { readonly user: UserIdentity }
  | { readonly clock: ClockOrder }
  | { readonly stop: StopOptions }

/** An order with the number of the cluster, and that of the call, which the answer has. */
export type HostCall = HostOrder & { readonly cluster: number; readonly call: number }

/** The members of a cluster that are data. */
export type ClusterData = Pick<
  RunningCluster,
  'url' | 'port' | 'client' | 'kubeconfig' | 'kubeconfigYaml' | 'clockMemory'
>

/** An error, whose class does not pass from thread to thread. */
export interface SentError {
  readonly type: 'explained' | 'store' | 'other'
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
}

/** The messages of the thread. */
export type HostReport =
  | { readonly call: number; readonly answer: unknown }
  | { readonly call: number; readonly error: SentError }
  | { readonly cluster: number; readonly log: string; readonly severity: Severity | undefined }
  | { readonly cluster: number; readonly notice: string }
  | { readonly cluster: number; readonly synced: true }
