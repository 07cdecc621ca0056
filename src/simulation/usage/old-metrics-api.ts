/**
 * Removes what earlier releases registered to serve metrics.k8s.io, which API servers now answer themselves: an
 * APIService without a server makes the API unavailable, and blocks the deletion of namespaces.
 */
import { apiServices, services } from '../../client/kinds.ts'
import { ignoreNotFound } from '../../client/rest/api-errors.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { annotationPrefix, ownerLabel, upOwner } from '../names.ts'

/** Marks our objects. An installed metrics-server has objects of the same names without this label. */
const ownLabel = `${annotationPrefix}metrics`
const apiServiceName = 'v1beta1.metrics.k8s.io'
const service = { namespace: 'kube-system', name: 'metrics-server' } as const

/** Removes the objects of this owner; objects from a time before owners belong to `t8s up`. */
export async function removeOldMetricsApi(client: RestClient, owner: string): Promise<void> {
  const { labels } = (await client.find(apiServices, '', apiServiceName))?.metadata ?? {}
  if (!labels?.[ownLabel] || (labels[ownerLabel] ?? upOwner) !== owner) return
  await client.delete(apiServices, '', apiServiceName).catch(ignoreNotFound)
  await client.delete(services, service.namespace, service.name).catch(ignoreNotFound)
}
