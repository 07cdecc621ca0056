/**
 * One group version that another server answers: its connections, whether it is available, and what it says of itself.
 * It is looked at again and again: after changes at once, after failures soon and then more and more seldom, else now
 * and then.
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
/** Documents of a server that is well are asked for again after this. */
const documentsMs = 60_000

export interface RemoteServiceOptions {
  readonly sources: ServiceSources
  readonly client: ProxyClient | undefined
  /** Writes what a check found into the APIService. */
  readonly report: (verdict: Verdict) => Promise<void>
  /** Discovery or OpenAPI is not what it was. */
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
  #again = false
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

  /** Takes a newer state of the object; false if its spec is another one. */
  update(object: APIService): boolean {
    if (JSON.stringify(object.spec) !== this.#specText) return false
    this.#object = object
    return true
  }

  /** As the object says, whoever has written it. */
  get available(): boolean {
    return isAvailable(this.#object)
  }

  /** An address of it. Rejects with a StatusError where there is none. */
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

  /** Looks at it now, once more if it is being looked at. */
  check(): void {
    if (this.#stopped) return
    clearTimeout(this.#timer)
    if (this.#checking) {
      this.#again = true
      return
    }
    this.#checking = true
    void this.#look().finally(() => {
      this.#checking = false
      if (this.#again) {
        this.#again = false
        this.check()
      }
    })
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#transport.agent.destroy()
  }

  async #look(): Promise<void> {
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

  /** Reads its documents anew, unless that was done a moment ago. What is known of a server that has gone stays. */
  async #refresh(reachable: boolean): Promise<void> {
    const now = performance.now()
    if (reachable && !this.#stale && now - this.#documentsAt < documentsMs) return
    const before = [this.#stale, JSON.stringify(this.#discovery?.found), this.#openapi?.v3, this.#openapi?.v2Tag]
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
    const after = [this.#stale, JSON.stringify(this.#discovery?.found), this.#openapi?.v3, this.#openapi?.v2Tag]
    if (before.some((value, i) => value !== after[i])) this.#options.changed()
  }
}
