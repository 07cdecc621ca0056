/** What is told of the server itself: discovery, OpenAPI, health, version, metrics, and the keys of tokens. */

import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { type Aggregator, mergedApis } from '../aggregator/index.ts'
import { discoveryDocuments } from '../discovery/index.ts'
import { type CheckedParts, healthChecks } from '../health/checks.ts'
import type { Documents } from '../http/documents.ts'
import { nonResource } from '../non-resource/non-resource.ts'
import { openidIssuer } from '../non-resource/openid.ts'
import { openapiDocuments } from '../openapi/index.ts'
import type { ServedApis } from '../registry/served-apis.ts'
import type { ApiServerOptions } from '../server-options.ts'
import { versionInfo } from '../version/version.ts'

export interface DocumentSources {
  readonly apis: ServedApis
  /** What other servers add. */
  readonly aggregator: Aggregator
  /** What health looks at; a server is ending when it takes no new requests, or soon will not. */
  readonly checked: CheckedParts
  readonly metrics: MetricsRegistry
  /** Where the server is reached, once it listens. */
  readonly serverUrl: () => string
  /** Pages of single parts. */
  readonly pages: readonly Documents[]
  readonly log: (line: string) => void
}

/** Answers paths that are no resources; undefined for those it does not know. */
export function documentsOf(options: ApiServerOptions, sources: DocumentSources): ReturnType<typeof nonResource> {
  const { apis, aggregator, metrics, serverUrl } = sources
  const version = versionInfo(options.release ?? '0.0.0')
  const aggregations = metrics.counter(
    'aggregator_discovery_aggregation_count_total',
    'Counter of number of times discovery was aggregated',
  )([])
  const discovery = discoveryDocuments(
    mergedApis(apis, () => aggregator.documents.versions),
    serverUrl,
    () => aggregations.add(),
  )
  const openapi = openapiDocuments(() => apis.state.resources, {
    version: `${version.major}.${version.minor}`,
    release: version.gitVersion,
    remote: () => aggregator.documents,
  })
  return nonResource({
    checks: healthChecks(sources.checked),
    version,
    metrics: () => metrics.render(),
    issuer: options.serviceAccount && openidIssuer(options.serviceAccount, sources.log),
    serverUrl,
    documents: [discovery.find, openapi.find, ...sources.pages],
    documentPaths: () => [...discovery.paths(), ...openapi.paths],
  })
}
