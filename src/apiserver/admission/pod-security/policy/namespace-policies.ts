/** The policies of all namespaces, in memory. */
import { after } from '../../../../lib/flow/after.ts'
import { Informer } from '../../../registry/informer.ts'
import type { ServedResource } from '../../../registry/served-resource.ts'
import type { PluginSources } from '../../plugin.ts'
import { isFullyPrivileged, type Policy, type ReadPolicy, readPolicy } from './policy.ts'

/** The policy of a namespace as the plug-in caches it. */
export interface CachedPolicy extends ReadPolicy {
  /** True if all modes are privileged: nothing has to be evaluated. */
  readonly isFree: boolean
}

export class NamespacePolicies {
  readonly #sources: PluginSources
  readonly #namespaces: ServedResource
  readonly #defaults: Policy
  readonly #informer: Informer<CachedPolicy>

  /** `defaults` is the policy of namespaces without labels. */
  constructor(sources: PluginSources, namespaces: ServedResource, defaults: Policy) {
    this.#sources = sources
    this.#namespaces = namespaces
    this.#defaults = defaults
    // The summary has the labels without parsing the object: all namespaces are watched.
    this.#informer = new Informer<CachedPolicy>({
      registry: sources.registry,
      resource: namespaces,
      read: ({ summary }) => this.#read(summary.labels),
      log: sources.log,
    })
  }

  /** Resolves when all namespaces have been loaded. */
  start(): Promise<void> {
    return this.#informer.start()
  }

  stop(): void {
    this.#informer.stop()
  }

  /** Returns undefined for a missing namespace. One created just now may not have been observed yet. */
  get(namespace: string): CachedPolicy | undefined | Promise<CachedPolicy | undefined> {
    return (
      this.#informer.get('', namespace) ??
      after(
        this.#sources.registry.lookUp(this.#namespaces, this.#namespaces.key('', namespace)),
        (found) => found && this.#read(found.summary.labels),
      )
    )
  }

  #read(labels: Readonly<Record<string, string>> | undefined): CachedPolicy {
    const read = readPolicy(labels, this.#defaults)
    return { ...read, isFree: read.faults.length === 0 && isFullyPrivileged(read.policy) }
  }
}
