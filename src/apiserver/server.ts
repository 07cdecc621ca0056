/** The API server: puts its parts together on a store and listens. */
import { setTimeout as delay } from 'node:timers/promises'
import { allResources, resourceRegistry } from '../api/registry.ts'
import { resourceKey } from '../api/resource.ts'
import { admissionChain } from './admission/index.ts'
import { PolicyStatus } from './admission/policies/policy-status.ts'
import { Aggregator, mergedApis, publishAuthentication } from './aggregator/index.ts'
import { auditing } from './audit/index.ts'
import { authenticationOf } from './authentication/index.ts'
import { joinedBundles } from './authentication/signed-by.ts'
import { authorization } from './authorization/index.ts'
import { guardRoles, RolePolicy } from './authorization/rbac/index.ts'
import { ensureBootstrapObjects } from './bootstrap/index.ts'
import { buildChain } from './chain/index.ts'
import { WaitGroup } from './chain/wait-group.ts'
import { customResources } from './crd/index.ts'
import { director } from './director.ts'
import { discoveryDocuments } from './discovery/index.ts'
import { EncryptedStore, EncryptionAtRest } from './encryption/index.ts'
import type { Services } from './endpoints/endpoint.ts'
import { plainLimits, priorityAndFairnessOf } from './flow-control/index.ts'
import { healthChecks } from './health/checks.ts'
import { componentProbes } from './health/components.ts'
import { storeHealth } from './health/store-health.ts'
import type { Handler } from './http/exchange.ts'
import { listen } from './http/listener.ts'
import { authorizationMetrics } from './metrics/authorization-metrics.ts'
import { processMetrics } from './metrics/process-metrics.ts'
import { MetricsRegistry } from './metrics/registry.ts'
import { requestMetrics } from './metrics/request-metrics.ts'
import { nonResource } from './non-resource.ts'
import { openapiDocuments } from './openapi/index.ts'
import { openidIssuer } from './openid.ts'
import type { Places } from './proxy/index.ts'
import { Registry } from './registry/registry.ts'
import { ownWriter } from './registry/write/own-writer.ts'
import { knowsKind } from './request/known-kinds.ts'
import { ServedApis } from './served-apis.ts'
import type { ApiServer, ApiServerOptions } from './server-options.ts'
import { serviceAllocation } from './services/index.ts'
import { versionInfo } from './version.ts'
import { warmUp } from './warm-up.ts'

export type { TokenUser } from './authentication/tokens/static-tokens.ts'
export type { ApiServer, ApiServerOptions } from './server-options.ts'

const defaultRequestTimeoutMs = 60_000
const defaultGraceMs = 10_000

/** Starts a server. Rejects with Node's errors when it cannot listen, and with an Error for a bad runtimeConfig. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { bindAddress, log = () => {} } = options
  const encryption = options.encryption && new EncryptionAtRest(options.encryption, allResources, log)
  await encryption?.start()
  const store = encryption ? new EncryptedStore(options.store, encryption.transformerOf) : options.store
  const enabled = resourceRegistry({ runtimeConfig: (options.runtimeConfig ?? []).join(',') })
  for (const warning of enabled.warnings) log(warning)
  const registry = new Registry(store, allResources, log)
  const resources = enabled.resources.map((definition) => registry.served(definition))
  const find = (key: string) => registry.served(allResources.find((definition) => resourceKey(definition) === key)!)
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
  const roles = new RolePolicy({ registry, find, log })
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
  const access = authorization(options.authorization ?? {}, { registry, find, roles, places, metrics, log })
  const audit = await auditing(options.audit ?? {}, metrics, log)
  const { authorizer } = access
  guardRoles(find, roles, authorizer)
  const admission = admissionChain({ registry, find, authorizer, apis, places, metrics, log }, options.admission)
  const own = ownWriter(registry, admission)
  const authentication = authenticationOf(options, { registry, find, writer: own, places, metrics, log })
  const health = storeHealth(store, log)
  const services: Services = {
    registry,
    admission,
    waitGroup,
    pods,
    budgets: find('policy/v1/poddisruptionbudgets'),
    places,
    authorizer,
    tokens: authentication.tokens,
    serviceAccounts: authentication.serviceAccounts,
    secrets: find('v1/secrets'),
    components: componentProbes(health.check),
    knowsKind: knowsKind(allResources),
    minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
  }

  let url = ''
  let ending = false
  const discovery = discoveryDocuments(
    mergedApis(apis, () => aggregator.documents.versions),
    () => url,
  )
  const version = versionInfo(options.release ?? '0.0.0')
  const openapi = openapiDocuments(() => apis.state.resources, { version: version.gitVersion, remote: () => aggregator.documents })
  const requestTimeoutMs = options.requestTimeoutMs ?? defaultRequestTimeoutMs
  const served = (group: string, version: string, plural: string) => apis.find(group, version, plural)
  const flow = priorityAndFairnessOf(options.flowControl ?? {}, { registry, find, served, writer: own, metrics, requestTimeoutMs, log })
  const other = nonResource({
    checks: healthChecks(health.check, () => ending || waitGroup.stopping, encryption?.healthChecks),
    version,
    metrics: () => metrics.render(),
    issuer: options.serviceAccount && openidIssuer(options.serviceAccount, log),
    serverUrl: () => url,
    documents: [discovery.handle, openapi.handle, ...(flow ? [flow.document] : [])],
    documentPaths: () => [...discovery.paths(), ...openapi.paths],
  })

  const custom = customResources({
    registry,
    apis,
    definitions: find('apiextensions.k8s.io/v1/customresourcedefinitions'),
    writer: own,
    webhooks: services.places,
    log,
  })
  // A file that is not right ends the start here: nothing is to go on beside it.
  const starts = await Promise.allSettled([access.start(), admission.start(), authentication.tokens.start()])
  const failed = starts.find((start) => start.status === 'rejected')
  if (failed) {
    flow?.stop()
    admission.stop()
    access.stop()
    roles.stop()
    authentication.tokens.stop()
    registry.stop()
    encryption?.stop()
    await audit?.stop()
    throw failed.reason
  }
  await Promise.all([ensureBootstrapObjects({ find, context: own, log }), flow?.start()])
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
  const [republish] = await Promise.all([
    publishAuthentication(
      { configMaps: find('v1/configmaps'), context: own, clientCA: options.clientCA, requestHeader: options.requestHeader, log },
      stopped.signal,
    ),
    aggregator.start(),
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
      authentication,
      authorizer,
      decisions: authorizationMetrics(metrics),
      flow: flow?.control ?? plainLimits(options.flowControl ?? {}, metrics),
      requestTimeoutMs,
      auditing: audit,
      http: options.http,
    },
    direct,
  )
  const authorities = [options.clientCA, options.requestHeader?.clientCA].filter((bundle) => bundle !== undefined)
  const end = async (): Promise<void> => {
    stopped.abort()
    await policyStatus.stop()
    await custom.stop()
    aggregator.stop()
    flow?.stop()
    admission.stop()
    access.stop()
    roles.stop()
    authentication.tokens.stop()
    registry.stop()
    encryption?.stop()
    await audit?.stop()
  }
  const listener = await listen({
    bindAddress,
    port: options.port,
    tls: options.tls,
    clientCA: authorities.length > 0 ? { bundle: joinedBundles(authorities), changed: republish } : undefined,
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
    async stop({ graceMs = defaultGraceMs, delayMs = options.shutdownDelayMs ?? 0 } = {}) {
      ending = true
      endWarmUp?.()
      if (delayMs > 0) await delay(delayMs)
      const until = performance.now() + graceMs
      const left = (): number => Math.max(0, until - performance.now(), options.watchTerminationGraceMs ?? 0)
      // Whoever comes now is told so, where that is wanted; else finds the port closed.
      if (options.http?.shutdownSendRetryAfter) await waitGroup.stop(graceMs)
      const closed = listener.close(left())
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
