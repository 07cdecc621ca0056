/** The configuration of an extender, with the contents of certificate files. */
export interface ExtenderSettings {
  readonly urlPrefix: string
  readonly filterVerb?: string
  readonly prioritizeVerb?: string
  readonly preemptVerb?: string
  readonly bindVerb?: string
  readonly weight?: number
  readonly enableHTTPS?: boolean
  readonly tls?: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly serverName?: string
    readonly insecure?: boolean
  }
  readonly timeoutMs: number
  /** The extender knows the nodes itself, so only names are sent. */
  readonly nodeCacheCapable?: boolean
  readonly managedResources?: readonly { readonly name: string; readonly ignoredByScheduler?: boolean }[]
  readonly ignorable?: boolean
}
