/** The API server: puts its parts together on a store and listens. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { allResources, resourceRegistry } from '../api/registry.ts'
import { resourceKey } from '../api/resource.ts'
import type { Store } from '../storage/store.ts'
import { defaultTolerationSeconds, type TolerationSeconds } from './admission/default-toleration-seconds.ts'
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts'
import { Admission } from './admission/plugin.ts'
import { serviceAccount as serviceAccountPlugin } from './admission/service-account.ts'
import { Aggregator, mergedApis, type ProxyClient, publishAuthentication } from './aggregator/index.ts'
import { refuseAnonymous } from './authentication/authenticator.ts'
import { clientCertificate } from './authentication/client-certificate.ts'
import { type RequestHeaderOptions, requestHeader } from './authentication/request-header.ts'
import { type TokenUser, tokenFile } from './authentication/token-file.ts'
import { type Authorizer, authenticatedOnly } from './authorization/authorizer.ts'
import { ensureBootstrapObjects } from './bootstrap/index.ts'
import { buildChain } from './chain/index.ts'
import { WaitGroup } from './chain/wait-group.ts'
import { customResources } from './crd/index.ts'
import { director } from './director.ts'
import { discoveryDocuments } from './discovery/index.ts'
import type { Services } from './endpoints/endpoint.ts'
import { componentProbes } from './health/components.ts'
import { type HealthCheck, log as logCheck, ping } from './health/health.ts'
import { storeHealth } from './health/store-health.ts'
import type { ListenerLimits } from './http/bounds/limits.ts'
import type { Handler } from './http/exchange.ts'
import { listen } from './http/listener.ts'
import { processMetrics } from './metrics/process-metrics.ts'
import { MetricsRegistry } from './metrics/registry.ts'
import { requestMetrics } from './metrics/request-metrics.ts'
import { nonResource } from './non-resource.ts'
import { openapiDocuments } from './openapi/index.ts'
import type { ServiceAccountIssuer } from './openid.ts'
import { Registry } from './registry/registry.ts'
import { timestamp, type Writer } from './registry/write/write-context.ts'
import { ServedApis } from './served-apis.ts'
import { serviceAllocation } from './services/index.ts'
import { versionInfo } from './version.ts'
import { warmUp } from './warm-up.ts'

export type { TokenUser } from './authentication/token-file.ts'

export interface ApiServerOptions {
  /** Closed by the caller, after `stop()`. */
  readonly store: Store
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer }
  /** PEM bundle that client certificates are checked against. */
  readonly clientCA?: string
  /** Front proxies that may say who a user is. */
  readonly requestHeader?: RequestHeaderOptions
  /** The certificate that is shown to the servers of aggregated APIs. */
  readonly proxyClient?: ProxyClient
  readonly tokens?: readonly TokenUser[]
  /** As `--runtime-config`: `api/beta=true`, `batch/v1=false`, … */
  readonly runtimeConfig?: readonly string[]
  /** One range of cluster IPs, or two with a comma between them; 10.0.0.0/24 unless said. */
  readonly serviceClusterIpRange?: string
  /** 30000-32767 unless said. */
  readonly serviceNodePortRange?: string
  readonly serviceAccount?: ServiceAccountIssuer
  /** The address that pods reach this server by (`--advertise-address`); one of the machine unless said. */
  readonly advertiseAddress?: string
  /** Upstream's names of admission plug-ins that are off. */
  readonly disabledAdmissionPlugins?: readonly string[]
  /** How long pods stay on nodes that are not ready, and on unreachable ones, in seconds; 300 unless said. */
  readonly defaultTolerationSeconds?: TolerationSeconds
  /** Whether requests without credentials are `system:anonymous`, or refused; true unless said. */
  readonly anonymousAuth?: boolean
  /** Who may do what; unless said, who is authenticated may do everything. */
  readonly authorizer?: Authorizer
  /** The release of this package, shown in `/version`. */
  readonly release?: string
  /** Makes the first requests fast at the price of 0.3 s of CPU after the start: for servers that live long. */
  readonly warmUp?: boolean
  /** What the listener bears of its clients, where it differs from the defaults. */
  readonly limits?: Partial<ListenerLimits>
  /** How long a request that is no watch or stream may take, in ms; 60,000 unless said. */
  readonly requestTimeoutMs?: number
  readonly log?: (line: string) => void
}

export interface ApiServer {
  readonly url: string
  readonly port: number
  /** Serves on for `delayMs` (0), unready; then takes no new requests, ends watches, waits up to `graceMs` (10 s) for the rest. */
  stop(options?: StopOptions): Promise<void>
}

export interface StopOptions {
  readonly graceMs?: number
  /** As `--shutdown-delay-duration`: time for a load balancer to notice. */
  readonly delayMs?: number
}

const defaultRequestTimeoutMs = 60_000
const defaultGraceMs = 10_000

/** Starts a server. Rejects with Node's errors when it cannot listen, and with an Error for a bad runtimeConfig. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { store, bindAddress, log = () => {} } = options
  const enabled = resourceRegistry({ runtimeConfig: (options.runtimeConfig ?? []).join(',') })
  for (const warning of enabled.warnings) log(warning)
  const registry = new Registry(store, allResources, log)
  const resources = enabled.resources.map((definition) => registry.served(definition))
  const find = (key: string) => registry.served(allResources.find((definition) => resourceKey(definition) === key)!)
  const namespaces = find('v1/namespaces')
  const pods = find('v1/pods')

  const serviceAllocations = serviceAllocation({
    registry,
    find,
    clusterIpRange: options.serviceClusterIpRange,
    nodePortRange: options.serviceNodePortRange,
    log,
  })

  const waitGroup = new WaitGroup()
  const metrics = new MetricsRegistry()
  processMetrics(metrics)
  const tokens = options.tokens ?? []
  const kinds = new Set(
    allResources.flatMap(({ group, version, kind, listKind }) =>
      [kind, listKind ?? `${kind}List`].map((name) => `${group ? `${group}/` : ''}${version} ${name}`),
    ),
  )
  const off = new Set(options.disabledAdmissionPlugins)
  const plugins = [namespaceLifecycle(registry, namespaces), serviceAccountPlugin(pods), defaultTolerationSeconds(pods, options.defaultTolerationSeconds)]
  const admission = new Admission(plugins.filter(({ name }) => !off.has(name)))
  const health = storeHealth(store, log)
  const services: Services = {
    registry,
    admission,
    waitGroup,
    pods,
    budgets: find('policy/v1/poddisruptionbudgets'),
    places: {
      registry,
      pods,
      services: find('v1/services'),
      nodes: find('v1/nodes'),
      endpointSlices: find('discovery.k8s.io/v1/endpointslices'),
      endpoints: find('v1/endpoints'),
      random: Math.random,
    },
    authorizer: options.authorizer ?? authenticatedOnly,
    authenticateToken: async (token) => tokens.find((user) => user.token === token)?.user,
    components: componentProbes(health.check),
    knowsKind: (groupVersion, kind) => kinds.has(`${groupVersion} ${kind}`),
  }

  let url = ''
  let ending = false
  const live = [ping, logCheck, health.check]
  const informers: HealthCheck = { name: 'informer-sync', check: () => undefined }
  const shutdown: HealthCheck = { name: 'shutdown', check: () => (ending || waitGroup.stopping ? 'process is shutting down' : undefined) }
  const apis = new ServedApis(enabled, resources)
  const discovery = discoveryDocuments(
    mergedApis(apis, () => aggregator.documents.versions),
    () => url,
  )
  const version = versionInfo(options.release ?? '0.0.0')
  const openapi = openapiDocuments(() => apis.state.resources, { version: version.gitVersion, remote: () => aggregator.documents })
  const other = nonResource({
    checks: { healthz: live, livez: live, readyz: [...live, informers, shutdown] },
    version,
    metrics: () => metrics.render(),
    issuer: options.serviceAccount,
    serverUrl: () => url,
    documents: [discovery.handle, openapi.handle],
    documentPaths: () => [...discovery.paths(), ...openapi.paths],
  })

  const own: Writer = {
    registry,
    admission,
    user: { name: 'system:apiserver', uid: randomUUID(), groups: ['system:masters'] },
    manager: 'kube-apiserver',
    options: { dryRun: false, fieldManager: '', fieldValidation: 'Ignore', force: false },
    warnings: [],
    now: timestamp,
    pause: () => undefined,
  }
  const custom = customResources({
    registry,
    apis,
    definitions: find('apiextensions.k8s.io/v1/customresourcedefinitions'),
    writer: own,
    webhooks: services.places,
    log,
  })
  await ensureBootstrapObjects({
    namespaces,
    priorityClasses: find('scheduling.k8s.io/v1/priorityclasses'),
    context: own,
  })
  const aggregator = new Aggregator({
    apiServices: find('apiregistration.k8s.io/v1/apiservices'),
    sources: services.places,
    builtIn: enabled.groups.flatMap(({ versions }) => versions),
    client: options.proxyClient,
    context: own,
    waitGroup,
    log,
  })
  const stopped = new AbortController()
  await Promise.all([
    aggregator.start(),
    publishAuthentication(
      { configMaps: find('v1/configmaps'), context: own, clientCA: options.clientCA, requestHeader: options.requestHeader, log },
      stopped.signal,
    ),
  ])

  await custom.start()
  await aggregator.followCustom(apis)

  const local = director({ services, apis, other })
  const direct: Handler = (request) => aggregator.handle(request) ?? local(request)
  const handler = buildChain(
    {
      log,
      storeHealth: health,
      waitGroup,
      metrics: requestMetrics(metrics, (group, version, plural) => apis.find(group, version, plural)?.definition),
      authenticators: [
        ...(options.requestHeader ? [requestHeader(options.requestHeader)] : []),
        ...(options.clientCA ? [clientCertificate(options.clientCA)] : []),
        tokenFile(tokens),
        ...((options.anonymousAuth ?? true) ? [] : [refuseAnonymous]),
      ],
      authorizer: services.authorizer,
      requestTimeoutMs: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    },
    direct,
  )
  const authorities = [options.clientCA, options.requestHeader?.clientCA].filter(Boolean).join('\n')
  const end = async (): Promise<void> => {
    stopped.abort()
    await custom.stop()
    aggregator.stop()
    registry.stop()
  }
  const listener = await listen({
    bindAddress,
    port: options.port,
    tls: options.tls,
    clientCA: authorities || undefined,
    limits: options.limits,
    handler,
  }).catch(async (error) => {
    await end()
    throw error
  })
  const host = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress === '::' ? '[::1]' : bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress
  url = `https://${host}:${listener.port}`
  await serviceAllocations.begin({ bindAddress, advertiseAddress: options.advertiseAddress, port: listener.port, context: own })

  const endWarmUp = options.warmUp ? warmUp(direct, waitGroup) : undefined

  return {
    url,
    port: listener.port,
    async stop({ graceMs = defaultGraceMs, delayMs = 0 } = {}) {
      ending = true
      endWarmUp?.()
      if (delayMs > 0) await delay(delayMs)
      const closed = listener.close(graceMs)
      await waitGroup.stop(graceMs)
      await closed
      await end()
    },
  }
}
