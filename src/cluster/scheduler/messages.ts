import type { FeatureSettings } from '../../api/features/feature-gates.ts'

/** All that a thread needs to run the scheduler: plain data. */
export interface SchedulerTask {
  readonly server: { readonly url: string; readonly ca: string }
  readonly token: string
  /** A file with a KubeSchedulerConfiguration; upstream's defaults unless said. */
  readonly configurationFile?: string
  /** As `--feature-gates`; the defaults of 1.36 if absent. */
  readonly features?: FeatureSettings
}
