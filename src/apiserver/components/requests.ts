/** The handlers of requests: documents about the API, endpoints, aggregated APIs, and the chain around them. */
import { allResources } from '../../api/registry.ts'
import { mergedApis } from '../aggregator/index.ts'
import { authenticationMetrics } from '../chain/identity/authentication-metrics.ts'
import { authorizationMetrics } from '../chain/identity/authorization-metrics.ts'
import { impersonationMetrics } from '../chain/identity/impersonation-metrics.ts'
import { buildChain, type ChainOptions } from '../chain/index.ts'
import { DeprecatedApis } from '../chain/metrics/deprecated-apis.ts'
import { filterDurations } from '../chain/metrics/filter-metrics.ts'
import type { FindResource } from '../chain/metrics/request-labels.ts'
import { RequestMetrics } from '../chain/metrics/request-metrics.ts'
import { requestLog } from '../chain/request-log.ts'
import { warmUpChain } from '../chain/warm-up-chain.ts'
import { discoveryDocuments } from '../discovery/index.ts'
import { director } from '../endpoints/director.ts'
import { plainLimits } from '../flow-control/index.ts'
import { healthChecks } from '../health/checks.ts'
import { componentProbes } from '../health/components.ts'
import type { Handler } from '../http/exchange.ts'
import { nonResource } from '../non-resource/non-resource.ts'
import { openidIssuer } from '../non-resource/openid.ts'
import { openapiDocuments } from '../openapi/index.ts'
import { profiles } from '../profiling/index.ts'
import type { ServedApis } from '../registry/served-apis.ts'
import { knowsKind } from '../request/bodies/known-kinds.ts'
import { requestTimeoutOf } from '../server-options.ts'
import { versionInfo } from '../version/version.ts'
import { component } from './component.ts'

/** Discovery, OpenAPI, health, version, metrics, and the keys of tokens. */
export const documents = component({
  name: 'documents',
  needs: [
    'options',
    'apis',
    'aggregator',
    'storeHealth',
    'encryptionChecks',
    'otherStoreHealth',
    'boot',
    'state',
    'waitGroup',
    'flow',
    'metrics',
    'log',
  ],
  gives: ['documents'],
  start({
    options,
    apis,
    aggregator,
    storeHealth,
    encryptionChecks,
    otherStoreHealth,
    boot,
    state,
    waitGroup,
    flow,
    metrics,
    log,
  }) {
    const version = versionInfo(options.release ?? '0.0.0')
    const aggregations = metrics.counter(
      'aggregator_discovery_aggregation_count_total',
      'Counter of number of times discovery was aggregated',
    )([])
    const serverUrl = (): string => state.externalUrl
    const merged = mergedApis(apis, () => aggregator.documents.versions)
    const discovery = discoveryDocuments(merged, serverUrl, () => aggregations.add())
    const openapi = openapiDocuments(() => apis.state.resources, {
      version: `${version.major}.${version.minor}`,
      release: version.gitVersion,
      remote: () => aggregator.documents,
    })
    const checks = healthChecks({
      store: storeHealth.check,
      storeReadiness: storeHealth.readiness,
      otherStores: otherStoreHealth,
      boot,
      isShuttingDown: () => state.isStopping || waitGroup.stopping,
      otherChecks: encryptionChecks,
    })
    const pages = [...(flow ? [flow.document] : []), ...((options.profiling ?? true) ? [profiles] : [])]
    return {
      documents: nonResource({
        checks,
        version,
        metrics: () => metrics.render(),
        issuer: options.serviceAccount && openidIssuer(options.serviceAccount, log),
        serverUrl,
        documents: [discovery.find, openapi.find, ...pages],
        documentPaths: () => [...discovery.paths(), ...openapi.paths],
      }),
    }
  },
})

/** Finds the endpoint of a request; nothing is authenticated or counted. */
export const endpoints = component({
  name: 'endpoints',
  needs: [
    'options',
    'registry',
    'find',
    'apis',
    'admission',
    'authorizer',
    'authentication',
    'places',
    'waitGroup',
    'storeHealth',
    'aggregator',
    'resourceMetrics',
    'documents',
    'testControl',
    'clockEndpoints',
    'metrics',
  ],
  gives: ['endpoints'],
  start({ options, registry, find, apis, aggregator, documents, storeHealth, authentication, ...parts }) {
    const { admission, authorizer, places, waitGroup, resourceMetrics, testControl, clockEndpoints, metrics } = parts
    const definitions = find('apiextensions.k8s.io/v1/customresourcedefinitions')
    const services = {
      registry,
      admission,
      waitGroup,
      pods: places.pods,
      budgets: find('policy/v1/poddisruptionbudgets'),
      places,
      resourceMetrics,
      authorizer,
      tokens: authentication.tokens,
      serviceAccounts: authentication.serviceAccounts,
      secrets: find('v1/secrets'),
      components: componentProbes(storeHealth.check, options.components),
      knowsKind: knowsKind(allResources),
      minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
    }
    const deprecated = new DeprecatedApis(metrics, resourceFinder(apis))
    const local = director({
      services,
      apis,
      catchUp: registry.store.isShared ? () => registry.cacher(definitions).consistent() : undefined,
      requestedDeprecated: (request) => deprecated.requested(request),
      other: (request) => testControl?.endpoints(request) ?? clockEndpoints?.(request) ?? documents(request),
    })
    const endpoints: Handler = (request) => aggregator.handle(request) ?? local(request)
    return { endpoints }
  },
})

const resourceFinder =
  (apis: ServedApis): FindResource =>
  (group, version, plural) =>
    apis.find(group, version, plural)?.definition

export const chain = component({
  name: 'chain',
  needs: [
    'options',
    'apis',
    'authentication',
    'authorizer',
    'storeHealth',
    'waitGroup',
    'flow',
    'audit',
    'testControl',
    'endpoints',
    'metrics',
    'log',
  ],
  gives: ['handler', 'warmUpHandler'],
  start({ options, apis, authentication, authorizer, storeHealth, waitGroup, flow, audit, endpoints, ...parts }) {
    const { testControl, metrics, log } = parts
    const definitionOf = resourceFinder(apis)
    const filters = filterDurations(metrics)
    const chain: ChainOptions = {
      log,
      storeHealth,
      waitGroup,
      metrics: new RequestMetrics(metrics, definitionOf),
      authentication,
      authorizer,
      attempts: authenticationMetrics(metrics, filters.authentication),
      impersonations: impersonationMetrics(metrics),
      decisions: authorizationMetrics(metrics, filters.authorization),
      flow: flow?.control ?? plainLimits(options.flowControl ?? {}, metrics),
      requestTimeoutMs: requestTimeoutOf(options),
      auditing: audit,
      testControl,
      http: options.http,
      requestLog: requestLog(options.verbosity, log),
      features: options.features,
    }
    return {
      handler: buildChain(chain, endpoints),
      warmUpHandler: () => buildChain(warmUpChain(chain, definitionOf, audit?.discarding()), endpoints),
    }
  },
})
