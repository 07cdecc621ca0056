/** Registers and unregisters the simulation as server of metrics.k8s.io, unless another one is registered. */
import { type APIService, apiServices, type Service, services } from '../../client/kinds.ts'
import { ignoreNotFound } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { annotationPrefix, ownerLabel, upOwner } from '../names.ts'
import { metricsGroup, metricsVersion } from './metrics-api.ts'

/**
 * Marks our objects. An installed metrics server has objects of the same names without this label; they are not
 * touched.
 */
const ownLabel = `${annotationPrefix}metrics`
const place = { namespace: 'kube-system', name: 'metrics-server' } as const
const apiServiceName = `${metricsVersion}.${metricsGroup}`

export interface MetricsEndpoint {
  /** The name or address at which the API server reaches it. */
  readonly host: string
  readonly port: number
  /** The CA of its certificate in PEM. */
  readonly ca: string
}

/**
 * Creates or updates the Service and the APIService. Returns false if they belong to a metrics server or to another
 * owner; `t8s up` replaces those of other owners.
 */
export async function registerMetrics(
  client: RestClient,
  owner: string,
  { host, port, ca }: MetricsEndpoint,
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

/** Objects of a release before owners belong to `t8s up`. */
const ownerOf = (labels: Readonly<Record<string, string>>): string => labels[ownerLabel] ?? upOwner

/** Deletes the APIService, for an API without a server would block the deletion of namespaces. */
export async function unregisterMetrics(client: RestClient, owner: string): Promise<void> {
  const known = await client.find(apiServices, '', apiServiceName)
  if (!known?.metadata.labels?.[ownLabel] || ownerOf(known.metadata.labels) !== owner) return
  await client.delete(apiServices, '', apiServiceName).catch(ignoreNotFound)
  await client.delete(services, place.namespace, place.name).catch(ignoreNotFound)
}
