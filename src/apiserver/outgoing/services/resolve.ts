/**
 * Resolves the Service of an APIService: to one of its endpoints, so that no cluster network is needed, or to its
 * external name.
 */
import type { V1Service } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { notFound, StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { type EndpointSources, rotateRandomly, serviceEndpoints } from './service-endpoints.ts'

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceSources extends EndpointSources {
  readonly services: ServedResource
  readonly random: () => number
}

export const unavailable = (message: string): StatusError => new StatusError(503, 'ServiceUnavailable', message)

export type Service = Model<V1Service>

export async function findService(
  { registry, services }: ServiceSources,
  { namespace, name }: ServiceReference,
): Promise<Service | undefined> {
  return (await registry.lookUp(services, services.key(namespace, name)))?.parse<Service>()
}

/** Throws a StatusError if there is no address. */
export async function resolveService(
  sources: ServiceSources,
  reference: ServiceReference,
): Promise<{ readonly host: string; readonly port: number }> {
  const { namespace, name, port } = reference
  const service = await findService(sources, reference)
  if (!service) throw notFound(sources.services.groupResource, name)
  if (service.spec?.type === 'ExternalName' && service.spec.externalName)
    return { host: service.spec.externalName, port }
  const servicePort = service.spec?.ports?.find((one) => one.port === port)
  if (!servicePort) throw unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
  const portName = servicePort.name ?? ''
  const subsets = (await serviceEndpoints(sources, namespace, name)) ?? []
  for (const { addresses, ports } of rotateRandomly(subsets, sources.random)) {
    const endpointPort = ports.find((one) => one.name === portName)
    const address = rotateRandomly(addresses, sources.random)[0]
    if (endpointPort && address) return { host: address.ip, port: endpointPort.port }
  }
  throw noEndpoints(name)
}

const noEndpoints = (name: string): StatusError =>
  unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
