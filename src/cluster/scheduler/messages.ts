/** All that a thread needs to run the scheduler: plain data. */
export interface SchedulerTask {
  readonly server: { readonly url: string; readonly ca: string }
  readonly token: string
  /** A file with a KubeSchedulerConfiguration; upstream's defaults unless said. */
  readonly configurationFile?: string
}
