/** The aggregator: watches APIServices, routes each group version to its server, and updates their conditions. */
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import type { Request, Response } from '../http/exchange.ts'
import type { WaitGroup } from '../http/wait-group.ts'
import type { ServiceSources } from '../outgoing/services/resolve.ts'
import type { ServedApis } from '../registry/served-apis.ts'
import type { ServedResource } from '../registry/served-resource.ts'
import { updateObject } from '../registry/write/update-object.ts'
import type { Writer } from '../registry/write/write-context.ts'
import {
  type APIService,
  apiServiceName,
  availableCondition,
  type GroupVersion,
  localVerdict,
  serviceOf,
  type Verdict,
  withVerdict,
} from './api-service.ts'
import type { OpenApiV2 } from './documents/merge-v2.ts'
import type { RemoteVersion } from './documents/merged-groups.ts'
import { follow } from './follow.ts'
import { LocalServices } from './local/local-services.ts'
import { proxyRequest } from './remote/proxy-request.ts'
import { RemoteService } from './remote/remote-service.ts'
import type { ProxyClient } from './remote/transport.ts'

export interface AggregatorOptions {
  readonly apiServices: ServedResource
  readonly sources: ServiceSources
  /** The built-in group versions. */
  readonly builtIn: readonly GroupVersion[]
  readonly client: ProxyClient | undefined
  readonly context: Writer
  readonly waitGroup: WaitGroup
  readonly log: (line: string) => void
}

/** Discovery and OpenAPI of other servers. A new object after each change. */
export interface RemoteDocuments {
  readonly versions: readonly RemoteVersion[]
  /** URLs of v3 documents by their path in the index. */
  readonly openapiV3: Readonly<Record<string, string>>
  readonly openapiV2: readonly OpenApiV2[]
}

const nothing: RemoteDocuments = { versions: [], openapiV3: {}, openapiV2: [] }

export class Aggregator {
  readonly #options: AggregatorOptions
  readonly #local: LocalServices
  readonly #stop = new AbortController()
  /** By name of the APIService, and by path: `apis/GROUP/VERSION`. */
  readonly #byName = new Map<string, RemoteService>()
  readonly #byPath = new Map<string, RemoteService>()
  #documents: RemoteDocuments | undefined = nothing
  #watchesServices = false

  constructor(options: AggregatorOptions) {
    this.#options = options
    const { apiServices, builtIn, context, log } = options
    this.#local = new LocalServices({ apiServices, builtIn, context, log })
  }

  /** Resolves when the APIServices of this server exist. Checks remote ones from now on. */
  async start(): Promise<void> {
    const { apiServices, context } = this.#options
    await this.#local.start()
    await follow(
      context.registry.cacher(apiServices),
      (key, object) => this.#reconcile(key.slice(apiServices.prefix.length), object?.parse<APIService>()),
      this.#stop.signal,
    )
  }

  /**
   * Ensures an APIService for each group version of custom resources from now on. Resolves when the current ones exist.
   * Versions that are only computed have none: an installed metrics-server creates its own, and takes over.
   */
  async followCustom(apis: ServedApis): Promise<void> {
    const builtIn = new Set(this.#options.builtIn.map(apiServiceName))
    const ensure = (): Promise<void> =>
      this.#local.ensureCustom(
        apis.state.groups
          .flatMap(({ versions }) => versions)
          .filter(
            (version) =>
              !builtIn.has(apiServiceName(version)) && version.resources.some(({ virtual }) => virtual !== true),
          ),
      )
    let waiting = false
    const end = apis.onChange(() => {
      if (waiting) return
      waiting = true
      // Batches simultaneous changes of many definitions.
      setImmediate(() => {
        waiting = false
        if (!this.#stop.signal.aborted) void ensure()
      })
    })
    this.#stop.signal.addEventListener('abort', end, { once: true })
    await ensure()
  }

  /** Proxies a request to another server; undefined for requests that this server handles. */
  handle(request: Request): Promise<Response> | undefined {
    if (this.#byPath.size === 0) return undefined
    const service = this.#byPath.get(requestedPath(request))
    return service && proxyRequest(request, service, this.#options.waitGroup)
  }

  /** The APIServices by name, with their availability. */
  *availability(): Generator<readonly [name: string, isAvailable: boolean]> {
    const { apiServices, context } = this.#options
    for (const object of context.registry.cacher(apiServices).live?.objects.slice(apiServices.range('')) ?? []) {
      const service = object.parse<APIService>()
      yield [service.metadata.name ?? '', availableCondition(service)?.status !== 'False']
    }
  }

  get documents(): RemoteDocuments {
    return (this.#documents ??= this.#collect())
  }

  stop(): void {
    this.#stop.abort()
    for (const service of this.#byName.values()) service.stop()
    this.#byName.clear()
    this.#byPath.clear()
  }

  #collect(): RemoteDocuments {
    const services = [...this.#byPath.values()].filter(({ group }) => group !== '')
    return {
      versions: services.map(({ discovered }) => discovered),
      openapiV3: Object.fromEntries(
        services.flatMap(({ group, version, openapi }) =>
          openapi?.v3 ? [[`apis/${group}/${version}`, openapi.v3]] : [],
        ),
      ),
      openapiV2: services.flatMap(({ openapi }) => openapi?.v2 ?? []),
    }
  }

  #reconcile(name: string, object: APIService | undefined): void {
    if (this.#stop.signal.aborted) return
    const managed = this.#local.isManaged(name, object)
    if (managed) void this.#local.resync()
    const known = this.#byName.get(name)
    if (object && serviceOf(object)) {
      if (!known?.update(object)) this.#put(name, object)
      return
    }
    if (known) this.#remove(name, known)
    if (object && !managed && availableCondition(object)?.reason !== localVerdict.reason)
      void this.#report(name, localVerdict)
  }

  #put(name: string, object: APIService): void {
    const { sources, client, log } = this.#options
    const before = this.#byName.get(name)
    if (before) this.#remove(name, before)
    const changed = (): void => {
      this.#documents = undefined
    }
    const service = new RemoteService(object, {
      sources,
      client,
      report: (verdict) => this.#report(name, verdict),
      changed,
      log,
    })
    this.#byName.set(name, service)
    this.#byPath.set(pathOf(service), service)
    changed()
    this.#watchServices()
    service.check()
  }

  #remove(name: string, service: RemoteService): void {
    service.stop()
    this.#byName.delete(name)
    this.#byPath.delete(pathOf(service))
    this.#documents = undefined
  }

  /**
   * Watches Services and their endpoints once there is a remote APIService, so that clusters without any save
   * the memory.
   */
  #watchServices(): void {
    if (this.#watchesServices) return
    this.#watchesServices = true
    const { sources, context, log } = this.#options
    const { registry } = context
    for (const resource of [sources.services, sources.endpoints, sources.endpointSlices]) {
      const changed = (key: string, labels: Readonly<Record<string, string>> = {}): void => {
        const [namespace, name] = key.slice(resource.prefix.length).split('/')
        for (const service of this.#byName.values()) {
          if (service.reference.namespace !== namespace) continue
          // A deleted slice has no labels here: checks all services of its namespace.
          const about = resource === sources.endpointSlices ? labels['kubernetes.io/service-name'] : name
          if (about === undefined || about === service.reference.name) service.check()
        }
      }
      follow(registry.cacher(resource), (key, object) => changed(key, object?.summary.labels), this.#stop.signal).catch(
        (error) => log(`cannot follow ${resource.definition.plural}: ${error}`),
      )
    }
  }

  async #report(name: string, verdict: Verdict): Promise<void> {
    const { apiServices, context, log } = this.#options
    const change = (live: KubeObject | undefined): { readonly object: KubeObject } => {
      const service = live as APIService
      // It may have changed between local and remote since the check.
      const fits = (verdict.reason === localVerdict.reason) === !service.spec?.service
      const conditions = fits ? withVerdict(service, verdict, context.now()) : undefined
      const changed: APIService = conditions ? { ...service, status: { ...service.status, conditions } } : service
      return { object: changed }
    }
    try {
      await updateObject(
        { ...context, resource: apiServices, namespace: '', name, subresource: 'status' },
        { startsFromLive: true, change },
      )
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404))
        log(`cannot write the condition of APIService ${name}: ${error}`)
    }
  }
}

const pathOf = ({ group, version }: GroupVersion): string => (group ? `apis/${group}/${version}` : `api/${version}`)

/** The group version of a request for a resource, discovery, or OpenAPI v3, as a path. */
function requestedPath({ path, info }: Request): string {
  if (info.version) return pathOf(info)
  return path.startsWith('/openapi/v3/') ? path.slice('/openapi/v3/'.length).replace(/\/$/, '') : ''
}
