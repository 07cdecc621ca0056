/**
 * Tells the API server that metrics.k8s.io is answered here, where nobody else answers it, and takes that back when the
 * nodes go.
 */
import { type APIService, apiServices, type Service, services } from '../../client/kinds.ts'
import { ignoreNotFound } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { annotationPrefix, ownerLabel, upOwner } from '../names.ts'
import { metricsGroup, metricsVersion } from './metrics-api.ts'

/** A metrics server that somebody installs has the same names, without this label: it is left alone. */
const ownLabel = `${annotationPrefix}metrics`
const place = { namespace: 'kube-system', name: 'metrics-server' } as const
const apiServiceName = `${metricsVersion}.${metricsGroup}`

export interface MetricsPlace {
  /** A name or an address at which the API server reaches it. */
  readonly host: string
  readonly port: number
  /** PEM of the authority that its certificate is checked by. */
  readonly ca: string
}

/**
 * Makes the Service and the APIService, or brings them up to date. False if a metrics server's, or another owner's, are
 * there: `t8s up` replaces those.
 */
export async function registerMetrics(
  client: RestClient,
  owner: string,
  { host, port, ca }: MetricsPlace,
): Promise<boolean> {
  const labels = { [ownLabel]: 'simulated', [ownerLabel]: owner }
  const isForeign = ({ metadata }: APIService | Service): boolean =>
    !metadata.labels?.[ownLabel] || (owner !== upOwner && ownerOf(metadata.labels) !== owner)
  const known = await client.find(apiServices, '', apiServiceName)
  if (known && isForeign(known)) return false
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...place, labels },
    spec: { type: 'ExternalName', externalName: host },
  }
  const knownService = await client.find(services, place.namespace, place.name)
  if (knownService && isForeign(knownService)) return false
  if (!knownService) await client.create(services, service)
  else
    await client.update(services, {
      ...knownService,
      metadata: { ...knownService.metadata, labels },
      spec: { ...knownService.spec, externalName: host },
    })
  const apiService: APIService = {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: apiServiceName, labels },
    spec: {
      group: metricsGroup,
      version: metricsVersion,
      groupPriorityMinimum: 100,
      versionPriority: 100,
      caBundle: Buffer.from(ca).toString('base64'),
      service: { ...place, port },
    },
  }
  if (known) await client.update(apiServices, { ...apiService, metadata: { ...known.metadata, labels } })
  else await client.create(apiServices, apiService)
  return true
}

/** Objects of a release before owners are those of `t8s up`. */
const ownerOf = (labels: Readonly<Record<string, string>>): string => labels[ownerLabel] ?? upOwner

/** An API that nobody answers would keep namespaces from going. */
export async function unregisterMetrics(client: RestClient, owner: string): Promise<void> {
  const known = await client.find(apiServices, '', apiServiceName)
  if (!known?.metadata.labels?.[ownLabel] || ownerOf(known.metadata.labels) !== owner) return
  await client.delete(apiServices, '', apiServiceName).catch(ignoreNotFound)
  await client.delete(services, place.namespace, place.name).catch(ignoreNotFound)
}
