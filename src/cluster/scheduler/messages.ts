import type { FeatureSettings } from '../../api/features/feature-gates.ts'

export interface SchedulerSettings {
  readonly server: { readonly url: string; readonly ca: string }
  readonly token: string
  /** True if other processes may schedule for the cluster: this one does while it holds the lease. */
  readonly isElected: boolean
  /** A file with a KubeSchedulerConfiguration. Default: upstream's defaults. */
  readonly configurationFile?: string
  /** As for `--feature-gates`. Default: those of 1.36. */
  readonly features?: FeatureSettings
}

/** Everything that a thread needs to run the scheduler, as plain data. */
export interface SchedulerTask extends SchedulerSettings {
  /** The memory of the cluster's clock. */
  readonly clockBuffer: SharedArrayBuffer
}
