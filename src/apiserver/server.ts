/** The API server: puts its parts together on a store and listens. */
import { setTimeout as delay } from 'node:timers/promises'
import { allResources, resourceRegistry } from '../api/registry.ts'
import { resourceKey } from '../api/resource.ts'
import { admissionChain } from './admission/index.ts'
import { PolicyStatus } from './admission/policies/policy-status.ts'
import { Aggregator, mergedApis, publishAuthentication } from './aggregator/index.ts'
import { authenticatorsOf } from './authentication/index.ts'
import { authorization } from './authorization/index.ts'
import { ensureBootstrapObjects } from './bootstrap/index.ts'
import { buildChain } from './chain/index.ts'
import { WaitGroup } from './chain/wait-group.ts'
import { customResources } from './crd/index.ts'
import { director } from './director.ts'
import { discoveryDocuments } from './discovery/index.ts'
import type { Services } from './endpoints/endpoint.ts'
import { healthChecks } from './health/checks.ts'
import { componentProbes } from './health/components.ts'
import { storeHealth } from './health/store-health.ts'
import type { Handler } from './http/exchange.ts'
import { listen } from './http/listener.ts'
import { processMetrics } from './metrics/process-metrics.ts'
import { MetricsRegistry } from './metrics/registry.ts'
import { requestMetrics } from './metrics/request-metrics.ts'
import { nonResource } from './non-resource.ts'
import { openapiDocuments } from './openapi/index.ts'
import type { Places } from './proxy/index.ts'
import { Registry } from './registry/registry.ts'
import { ownWriter } from './registry/write/own-writer.ts'
import { knowsKind } from './request/known-kinds.ts'
import { ServedApis } from './served-apis.ts'
import type { ApiServer, ApiServerOptions } from './server-options.ts'
import { serviceAllocation } from './services/index.ts'
import { versionInfo } from './version.ts'
import { warmUp } from './warm-up.ts'

export type { TokenUser } from './authentication/token-file.ts'
export type { ApiServer, ApiServerOptions } from './server-options.ts'

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
  const access = authorization(options.authorization ?? {}, { registry, find, log })
  const { authorizer } = access
  const apis = new ServedApis(enabled, resources)
  const places: Places = {
    registry,
    pods,
    services: find('v1/services'),
    nodes: find('v1/nodes'),
    endpointSlices: find('discovery.k8s.io/v1/endpointslices'),
    endpoints: find('v1/endpoints'),
    random: Math.random,
  }
  const admission = admissionChain({ registry, find, authorizer, apis, places, metrics, log }, options.admission)
  const health = storeHealth(store, log)
  const services: Services = {
    registry,
    admission,
    waitGroup,
    pods,
    budgets: find('policy/v1/poddisruptionbudgets'),
    places,
    authorizer,
    authenticateToken: async (token) => tokens.find((user) => user.token === token)?.user,
    components: componentProbes(health.check),
    knowsKind: knowsKind(allResources),
  }

  let url = ''
  let ending = false
  const discovery = discoveryDocuments(
    mergedApis(apis, () => aggregator.documents.versions),
    () => url,
  )
  const version = versionInfo(options.release ?? '0.0.0')
  const openapi = openapiDocuments(() => apis.state.resources, { version: version.gitVersion, remote: () => aggregator.documents })
  const other = nonResource({
    checks: healthChecks(health.check, () => ending || waitGroup.stopping),
    version,
    metrics: () => metrics.render(),
    issuer: options.serviceAccount,
    serverUrl: () => url,
    documents: [discovery.handle, openapi.handle],
    documentPaths: () => [...discovery.paths(), ...openapi.paths],
  })

  const own = ownWriter(registry, admission)
  const custom = customResources({
    registry,
    apis,
    definitions: find('apiextensions.k8s.io/v1/customresourcedefinitions'),
    writer: own,
    webhooks: services.places,
    log,
  })
  await Promise.all([access.start(), admission.start()])
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
  const policyStatus = new PolicyStatus({ registry, policies: find('admissionregistration.k8s.io/v1/validatingadmissionpolicies'), apis, writer: own, log })
  await policyStatus.start()

  const local = director({ services, apis, other })
  const direct: Handler = (request) => aggregator.handle(request) ?? local(request)
  const handler = buildChain(
    {
      log,
      storeHealth: health,
      waitGroup,
      metrics: requestMetrics(metrics, (group, version, plural) => apis.find(group, version, plural)?.definition),
      authenticators: authenticatorsOf(options),
      authorizer,
      requestTimeoutMs: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    },
    direct,
  )
  const authorities = [options.clientCA, options.requestHeader?.clientCA].filter(Boolean).join('\n')
  const end = async (): Promise<void> => {
    stopped.abort()
    await policyStatus.stop()
    await custom.stop()
    aggregator.stop()
    admission.stop()
    access.stop()
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
  url = urlOf(bindAddress, listener.port)
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

/** Where the server's own machine reaches it. */
function urlOf(bindAddress: string, port: number): string {
  const host = bindAddress === '0.0.0.0' ? '127.0.0.1' : bindAddress === '::' ? '::1' : bindAddress
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
