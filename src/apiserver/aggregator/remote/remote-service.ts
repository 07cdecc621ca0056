/**
 * A group version served by another server: its connections, availability and documents. It is checked immediately
 * after changes, with back-off after failures, and otherwise every 30 s.
 */
import type { Backend, ServiceReference } from '../../outgoing/index.ts'
import { resolveService, type ServiceSources } from '../../outgoing/services/resolve.ts'
import { type APIService, isAvailable, serviceOf, type Verdict } from '../api-service.ts'
import type { RemoteVersion } from '../documents/merged-groups.ts'
import { type FetchedDiscovery, fetchDiscovery } from '../documents/remote-discovery.ts'
import { fetchOpenApi, type RemoteOpenApi } from '../documents/remote-openapi.ts'
import { checkAvailability } from './availability.ts'
import { type ProxyClient, type Transport, transportFor } from './transport.ts'

/** As upstream's informers and rate limits. */
const resyncMs = 30_000
const firstRetryMs = 50
const longestRetryMs = 30_000
/** Interval at which the documents of an available server are fetched. */
const documentsMs = 60_000

export interface RemoteServiceOptions {
  readonly sources: ServiceSources
  readonly client: ProxyClient | undefined
  /** Writes the result of a check to the APIService. */
  readonly report: (verdict: Verdict) => Promise<void>
  /** Called after a change of discovery or OpenAPI. */
  readonly changed: () => void
  readonly log: (line: string) => void
}

export class RemoteService {
  readonly group: string
  readonly version: string
  readonly reference: ServiceReference
  readonly #options: RemoteServiceOptions
  readonly #transport: Transport
  readonly #specText: string
  #object: APIService
  #discovery: FetchedDiscovery | undefined
  #stale = true
  #openapi: RemoteOpenApi | undefined
  #documentsAt = 0
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #checking = false
  #recheck = false
  #stopped = false

  constructor(object: APIService, options: RemoteServiceOptions) {
    this.#object = object
    this.#options = options
    this.#specText = JSON.stringify(object.spec)
    this.group = object.spec?.group ?? ''
    this.version = object.spec?.version ?? ''
    this.reference = serviceOf(object) as ServiceReference
    this.#transport = transportFor(object, options.client)
  }

  /** Stores a newer version of the object; returns false if its spec has changed. */
  update(object: APIService): boolean {
    if (JSON.stringify(object.spec) !== this.#specText) return false
    this.#object = object
    return true
  }

  /** The Available condition of the object, which another server may have written. */
  get available(): boolean {
    return isAvailable(this.#object)
  }

  /** Resolves to an address of the Service. Rejects with a StatusError if it has none. */
  async backend(): Promise<Backend> {
    return { scheme: 'https', ...(await resolveService(this.#options.sources, this.reference)), ...this.#transport }
  }

  get discovered(): RemoteVersion {
    const { group, version } = this
    const { groupPriorityMinimum = 0, versionPriority = 0 } = this.#object.spec ?? {}
    const found = this.#discovery?.found ?? { version, freshness: 'Stale' }
    return {
      group,
      version,
      resources: [],
      groupPriority: groupPriorityMinimum,
      versionPriority,
      discovered: { ...found, freshness: this.#stale ? 'Stale' : 'Current' },
    }
  }

  get openapi(): RemoteOpenApi | undefined {
    return this.#openapi
  }

  /** Starts a check; if one is running, another follows it. */
  check(): void {
    if (this.#stopped) return
    clearTimeout(this.#timer)
    if (this.#checking) {
      this.#recheck = true
      return
    }
    this.#checking = true
    void this.#runCheck().finally(() => {
      this.#checking = false
      if (this.#recheck) {
        this.#recheck = false
        this.check()
      }
    })
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#transport.agent.destroy()
  }

  async #runCheck(): Promise<void> {
    try {
      const verdict = await checkAvailability(this.#object, this.#options.sources, () => this.backend())
      if (this.#stopped) return
      await this.#refresh(verdict.status === 'True')
      if (this.#stopped) return
      await this.#options.report(verdict)
      this.#failures = verdict.reason === 'FailedDiscoveryCheck' ? this.#failures + 1 : 0
    } catch (error) {
      this.#failures++
      if (!this.#stopped) this.#options.log(`cannot tell whether ${this.version}.${this.group} is available: ${error}`)
    }
    if (this.#stopped) return
    const delay = this.#failures ? Math.min(firstRetryMs * 2 ** (this.#failures - 1), longestRetryMs) : resyncMs
    this.#timer = setTimeout(() => this.check(), delay)
    this.#timer.unref()
  }

  /** Fetches the documents unless they are recent. Retains those of an unavailable server. */
  async #refresh(reachable: boolean): Promise<void> {
    const now = performance.now()
    if (reachable && !this.#stale && now - this.#documentsAt < documentsMs) return
    const before = [this.#stale, JSON.stringify(this.#discovery?.found), this.#openapi?.v3, this.#openapi?.v2Etag]
    this.#stale = true
    if (reachable) {
      try {
        const backend = await this.backend()
        this.#discovery = await fetchDiscovery(this, backend, this.#discovery)
        this.#openapi = await fetchOpenApi(this, backend, this.#openapi)
        this.#stale = false
        this.#documentsAt = now
      } catch (error) {
        this.#options.log(
          `the documents of ${this.version}.${this.group} cannot be read: ` +
            `${error instanceof Error ? error.message : error}`,
        )
      }
    }
    const after = [this.#stale, JSON.stringify(this.#discovery?.found), this.#openapi?.v3, this.#openapi?.v2Etag]
    if (before.some((value, i) => value !== after[i])) this.#options.changed()
  }
}
