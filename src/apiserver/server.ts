/** The API server: puts its parts together on a store and listens. */

import { setTimeout as delay } from 'node:timers/promises'
import { defaultFeatures } from '../api/features/feature-gates.ts'
import { MetricsRegistry } from '../lib/metrics/registry.ts'
import { giveBackMemory } from '../lib/process/give-back-memory.ts'
import { processMetrics } from '../lib/process/process-metrics.ts'
import { unhandledErrors } from '../lib/process/unhandled-errors.ts'
import { PolicyStatus } from './admission/policies/policy-status.ts'
import { availabilityMetrics } from './aggregator/availability-metrics.ts'
import { auditing } from './audit/index.ts'
import { ensureBootstrapObjects } from './bootstrap/index.ts'
import { joinedBundles } from './certificates/signed-by.ts'
import { authenticationMetrics } from './chain/identity/authentication-metrics.ts'
import { authorizationMetrics } from './chain/identity/authorization-metrics.ts'
import { impersonationMetrics } from './chain/identity/impersonation-metrics.ts'
import { buildChain, type ChainOptions } from './chain/index.ts'
import { filterDurations } from './chain/metrics/filter-metrics.ts'
import { type FindResource, requestMetrics } from './chain/metrics/request-metrics.ts'
import { uncounted } from './chain/uncounted.ts'
import { accessOf } from './components/access.ts'
import { addedApis } from './components/added-apis.ts'
import { documentsOf } from './components/documents.ts'
import { endpointServices } from './components/endpoint-services.ts'
import { expireEvents, usualEventTtlMs } from './components/event-expiry.ts'
import { Lifetime } from './components/lifetime.ts'
import { openResources } from './components/resources.ts'
import { director } from './endpoints/director.ts'
import { featureMetrics } from './feature-gates/feature-metrics.ts'
import { plainLimits, priorityAndFairnessOf } from './flow-control/index.ts'
import { BootSequence } from './health/boot-sequence.ts'
import { storeHealth } from './health/store-health.ts'
import { handshakeMetrics } from './http/connection-metrics.ts'
import type { Handler } from './http/exchange.ts'
import { listen } from './http/listener.ts'
import { listenInMemory } from './http/memory-listener.ts'
import { WaitGroup } from './http/wait-group.ts'
import { profiles } from './profiling/index.ts'
import { placesIn } from './proxy/index.ts'
import { cacheMetrics, watchMetrics } from './registry/cache-metrics.ts'
import type { ApiServer, ApiServerOptions } from './server-options.ts'
import { serviceAllocation } from './services/index.ts'
import { versionInfo } from './version/version.ts'
import { versionMetrics } from './version/version-metrics.ts'
import { warmUp } from './warm-up/index.ts'

export type { TokenUser } from './authentication/tokens/static-tokens.ts'
export type { ApiServer, ApiServerOptions } from './server-options.ts'

const defaultRequestTimeoutMs = 60_000
const defaultGraceMs = 10_000
/** What the Service of a server says that listens nowhere. */
const httpsPort = 443

/**
 * Starts a server. Rejects with Node's errors when it cannot listen, and with an Error for a bad runtimeConfig; then
 * nothing runs.
 */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const lifetime = new Lifetime()
  try {
    return await start(options, lifetime)
  } catch (error) {
    await lifetime.end()
    throw error
  }
}

async function start(options: ApiServerOptions, lifetime: Lifetime): Promise<ApiServer> {
  const { bindAddress, requestTimeoutMs = defaultRequestTimeoutMs, log = () => {} } = options
  const metrics = new MetricsRegistry()
  metrics.keptCounter(
    'apiserver_unhandled_errors_total',
    'Errors that no code of this process handled: each is logged with its stack.',
    [],
    () => [[[], unhandledErrors()]],
  )
  processMetrics(metrics)
  versionMetrics(metrics, versionInfo(options.release ?? '0.0.0'))
  featureMetrics(metrics, options.features ?? defaultFeatures)
  const audit = await auditing(options.audit ?? {}, metrics, log)
  lifetime.onEnd(() => audit?.stop())

  const resources = await openResources(options, metrics, lifetime, log)
  const { registry, find, apis } = resources
  const health = storeHealth(registry.store, log)
  cacheMetrics(metrics, registry)
  watchMetrics(metrics, () => apis.all())
  const places = placesIn(registry, find, options.kubelets)
  const waitGroup = new WaitGroup()
  const allocation = serviceAllocation({
    registry,
    find,
    clusterIpRange: options.serviceClusterIpRange,
    nodePortRange: options.serviceNodePortRange,
    metrics,
    log,
  })

  const access = accessOf(options, { registry, find, apis, places, metrics, lifetime, log })
  const { authentication, authorizer, admission, writer } = access
  const served = (group: string, version: string, plural: string) => apis.find(group, version, plural)
  const isServed = (group: string, plural: string): boolean =>
    ['v1', 'v1beta1', 'v1alpha1'].some((version) => served(group, version, plural) !== undefined)
  const flow = priorityAndFairnessOf(options.flowControl ?? {}, {
    registry,
    find,
    served,
    writer,
    metrics,
    requestTimeoutMs,
    log,
  })
  lifetime.onEnd(() => flow?.stop())
  const boot = new BootSequence(
    ['access', 'objects', ...(flow ? (['flowControl'] as const) : []), 'addedApis', 'services'],
    options,
  )
  const added = addedApis(options, { ...resources, writer, places, waitGroup, lifetime, log })
  const { aggregator } = added
  availabilityMetrics(metrics, aggregator)
  const handshakeFailed = handshakeMetrics(metrics)

  // A file that is not right ends the start here.
  await boot.during('access', access.start())
  await Promise.all([
    boot.during('objects', ensureBootstrapObjects({ find, isServed, context: writer, log })),
    flow && boot.during('flowControl', flow.start()),
  ])
  const republish = await boot.during('addedApis', added.start())
  const policies = find('admissionregistration.k8s.io/v1/validatingadmissionpolicies')
  const policyStatus = new PolicyStatus({ registry, policies, apis, writer, log })
  lifetime.onEnd(() => policyStatus.stop())
  await policyStatus.start()
  const ttlMs = options.eventTtlMs ?? usualEventTtlMs
  if (ttlMs > 0) lifetime.onEnd(expireEvents({ registry, events: find('v1/events'), ttlMs, log }))

  let url = ''
  let toldUrl = ''
  let ending = false
  const documents = documentsOf(options, {
    apis,
    aggregator,
    checked: {
      store: health.check,
      boot,
      isEnding: () => ending || waitGroup.stopping,
      others: resources.healthChecks,
    },
    metrics,
    serverUrl: () => toldUrl,
    pages: [...(flow ? [flow.document] : []), ...((options.profiling ?? true) ? [profiles] : [])],
    log,
  })
  const { minRequestTimeoutSeconds } = options
  const services = endpointServices({
    registry,
    find,
    access,
    places,
    waitGroup,
    storeCheck: health.check,
    components: options.components,
    minRequestTimeoutSeconds,
  })
  const local = director({ services, apis, other: documents })
  const direct: Handler = (request) => aggregator.handle(request) ?? local(request)
  const definitionOf: FindResource = (group, version, plural) => served(group, version, plural)?.definition
  const filters = filterDurations(metrics)
  const chain: ChainOptions = {
    log,
    storeHealth: health,
    waitGroup,
    metrics: requestMetrics(metrics, definitionOf),
    authentication,
    authorizer,
    attempts: authenticationMetrics(metrics, filters.authentication),
    impersonations: impersonationMetrics(metrics),
    decisions: authorizationMetrics(metrics, filters.authorization),
    flow: flow?.control ?? plainLimits(options.flowControl ?? {}, metrics),
    requestTimeoutMs,
    auditing: audit,
    http: options.http,
    features: options.features,
  }
  const handler = buildChain(chain, direct)

  const authorities = [options.clientCA, options.requestHeader?.clientCA].filter((bundle) => bundle !== undefined)
  const clientCA = authorities.length > 0 ? { bundle: joinedBundles(authorities), changed: republish } : undefined
  const { tls, transport, limits } = options
  const inMemory = listenInMemory(handler)
  const listener = tls
    ? await listen({ bindAddress, port: options.port, tls, transport, clientCA, limits, handler, handshakeFailed })
    : inMemory
  url = urlOf(bindAddress, listener.port)
  toldUrl = externalUrl(options.externalHostname, listener.port) ?? url
  const { advertiseAddress, withoutEndpoints } = options
  const listening = {
    bindAddress,
    advertiseAddress,
    withoutEndpoints,
    port: listener.port || httpsPort,
    context: writer,
  }
  await boot.during('services', allocation.begin(listening)).catch(async (error) => {
    await listener.close(0)
    throw error
  })
  const warmUpChain = () => buildChain(uncounted(chain, definitionOf, audit?.unkept()), direct)
  const warmth = options.warmUp
    ? warmUp({ handler: warmUpChain(), waitGroup, mayWrite: () => !admission.asksOthers })
    : undefined
  const keepMemory = warmth ? giveBackMemory(() => warmth.again()) : undefined

  return {
    url,
    port: listener.port,
    dial: inMemory.dial,
    async stop({ graceMs = defaultGraceMs, delayMs = options.shutdownDelayMs ?? 0 } = {}) {
      ending = true
      warmth?.end()
      keepMemory?.()
      if (delayMs > 0) await delay(delayMs)
      const until = performance.now() + graceMs
      const left = (): number => Math.max(0, until - performance.now(), options.watchTerminationGraceMs ?? 0)
      // Whoever comes now is told so, where that is wanted; else finds the port closed.
      if (options.http?.shutdownSendRetryAfter) await waitGroup.stop(graceMs)
      const closed = listener.close(left())
      await waitGroup.stop(graceMs)
      await closed
      await inMemory.close(0)
      await lifetime.end()
    },
  }
}

/** Where others reach it, who know it by another name. */
function externalUrl(host: string | undefined, port: number): string | undefined {
  if (!host) return undefined
  return `https://${/:\d+$/.test(host) ? host : `${host}:${port}`}`
}

/** Where the server's own machine reaches it. */
function urlOf(bindAddress: string, port: number): string {
  const host = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress === '::' ? '::1' : bindAddress
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
