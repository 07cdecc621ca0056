/**
 * Checks the availability of an aggregated API's server: its Service, the endpoints, and a response from one of them.
 */

import type { Backend, ServiceReference } from '../../outgoing/index.ts'
import { addressOf, fetchDocument, serviceEndpoints } from '../../outgoing/index.ts'
import { findService, type ServiceSources } from '../../outgoing/services/resolve.ts'
import { type APIService, serviceOf, type Verdict } from '../api-service.ts'
import { aggregatorUser, identityHeaders } from './identity-headers.ts'

/** One successful attempt out of this many is enough, as upstream. */
const attempts = 5
const probeTimeoutMs = 5_000

const failed = (reason: string, message: string): Verdict => ({ status: 'False', reason, message })

/** `backend` returns an address of the Service, a different one each time if it has several. */
export async function checkAvailability(
  apiService: APIService,
  sources: ServiceSources,
  backend: () => Promise<Backend>,
): Promise<Verdict> {
  const reference = serviceOf(apiService) as ServiceReference
  return (
    (await checkService(sources, reference)) ??
    (await checkResponse(apiService, backend)) ?? { status: 'True', reason: 'Passed', message: 'all checks passed' }
  )
}

/** Returns the fault of the Service and its endpoints. */
async function checkService(sources: ServiceSources, reference: ServiceReference): Promise<Verdict | undefined> {
  const { namespace, name, port } = reference
  const place = `service/${name} in ${JSON.stringify(namespace)}`
  const service = await findService(sources, reference)
  if (!service) return failed('ServiceNotFound', `${place} is not present`)
  if (service.spec?.type !== 'ClusterIP') return undefined
  const found = service.spec.ports?.find((one) => one.port === port)
  if (!found) return failed('ServicePortError', `${place} is not listening on port ${port}`)
  const subsets = await serviceEndpoints(sources, namespace, name)
  if (!subsets) return failed('EndpointsNotFound', `cannot find endpointslices for ${place}`)
  const portName = found.name ?? ''
  if (subsets.some(({ addresses, ports }) => addresses.length > 0 && ports.some((one) => one.name === portName)))
    return undefined
  return failed(
    'MissingEndpoints',
    `endpointslices for ${place} have no addresses with port name ${JSON.stringify(portName)}`,
  )
}

/** Returns the fault of the server's responses; undefined if one attempt succeeds. */
async function checkResponse(
  { metadata, spec }: APIService,
  backend: () => Promise<Backend>,
): Promise<Verdict | undefined> {
  const path = metadata.name === 'v1.' ? `/api/${spec?.version}` : `/apis/${spec?.group}/${spec?.version}`
  const first = await probe(backend, path)
  if (!first) return undefined
  const others = await Promise.all(Array.from({ length: attempts - 1 }, () => probe(backend, path)))
  return others.includes(undefined) ? undefined : failed('FailedDiscoveryCheck', others.at(-1)!)
}

/** Returns the error message of a failed attempt. */
async function probe(backend: () => Promise<Backend>, path: string): Promise<string | undefined> {
  let url = path
  try {
    const found = await backend()
    url = `https://${addressOf(found)}${path}`
    const { status } = await fetchDocument(found, path, identityHeaders(aggregatorUser), probeTimeoutMs)
    return status >= 200 && status < 300
      ? undefined
      : `failing or missing response from ${url}: bad status from ${url}: ${status}`
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return url === path ? message : `failing or missing response from ${url}: ${message}`
  }
}
