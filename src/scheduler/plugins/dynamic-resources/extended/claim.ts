/**
 * The claim that the scheduler creates for a pod whose extended resources are backed by devices; one for all of them.
 */
import { randomUUID } from 'node:crypto'
import type { Pod, ResourceClaim } from '../../../../client/kinds.ts'
import { controllerOf } from '../../../../client/objects/owners.ts'
import { wholeValue } from '../../../../machinery/values/quantity.ts'
import type { NodeInfo, PodInfo } from '../../../framework/index.ts'
import type { Request } from '../allocation/devices.ts'

const annotation = 'resource.kubernetes.io/extended-resource-claim'

type Container = NonNullable<Pod['spec']>['containers'][number]
export type RequestMapping = NonNullable<
  NonNullable<Pod['status']>['extendedResourceClaimStatus']
>['requestMappings'][number]

/** The claim created by an earlier attempt, whose devices may not fit any more. */
export function staleClaimOf(pod: PodInfo, claims: Iterable<ResourceClaim>): ResourceClaim | undefined {
  for (const claim of claims)
    if (claim.metadata.annotations?.[annotation] === 'true' && controllerOf(claim)?.uid === pod.pod.metadata.uid)
      return claim
  return undefined
}

/** Not a valid name: it marks the claim that is not created yet. */
const nameInMemory = '<extended-resources>'

/** A claim for the pod in memory, with a random uid. */
export const claimFor = ({ namespace, name, pod }: PodInfo, requests: Request[]): ResourceClaim => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaim',
  metadata: {
    namespace,
    name: nameInMemory,
    generateName: `${name}-extended-resources-`,
    uid: randomUUID(),
    annotations: { [annotation]: 'true' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Pod', name, uid: pod.metadata.uid ?? '', controller: true, blockOwnerDeletion: true },
    ],
  },
  spec: { devices: { requests } },
})

export interface DeviceRequests {
  readonly requests: Request[]
  /** The request that each container uses. */
  readonly mappings: RequestMapping[]
}

/** The requests for those of the resources that the node itself does not have. Undefined: it has all. */
export function missingRequests(
  resources: ReadonlyMap<string, string>,
  pod: PodInfo,
  { allocatable }: NodeInfo,
): DeviceRequests | undefined {
  const missing = new Map([...resources].filter(([name]) => (allocatable.scalar.get(name) ?? 0) === 0))
  return missing.size > 0 ? requestsOf(pod, missing) : undefined
}

/** The requests of a pod's containers for these resources; `classes` has the class of each. */
export function requestsOf({ pod }: PodInfo, classes: ReadonlyMap<string, string>): DeviceRequests {
  const initial = pod.spec?.initContainers ?? []
  const containers = [...initial, ...(pod.spec?.containers ?? [])].map((container, at) => ({ container, at }))
  const isShort = ({ container, at }: Placed): boolean => at < initial.length && container.restartPolicy !== 'Always'
  const result: DeviceRequests = { requests: [], mappings: [] }
  for (const [resource, deviceClassName] of [...classes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const lasting = containers
      .filter((one) => !isShort(one))
      .map((one) => requestsFor(one, resource, deviceClassName, []))
    // Containers that end before others start use the devices of those.
    const brief = containers.filter(isShort).map((one) => {
      const later = lasting.flatMap(({ at, own }) => (own && at > one.at ? own : []))
      return requestsFor(one, resource, deviceClassName, later)
    })
    // The additional devices are used by one after the other.
    const most = brief.reduce<Request | undefined>(
      (most, { own }) => (own && countOf(own) > countOf(most) ? own : most),
      undefined,
    )
    result.requests.push(...lasting.flatMap(({ own }) => own ?? []), ...(most ? [most] : []))
    for (const { container, reused, own } of [...lasting, ...brief.map((one) => ({ ...one, own: one.own && most }))])
      for (const { name } of [...reused, ...(own ? [own] : [])])
        result.mappings.push({ containerName: container.name, resourceName: resource, requestName: name })
  }
  result.requests.sort((a, b) => (a.name < b.name ? -1 : 1))
  return result
}

interface Placed {
  readonly container: Container
  readonly at: number
}

const countOf = (request: Request | undefined): number => Number(request?.exactly?.count ?? 0)

/**
 * The requests for a container: it reuses `reusable` ones as far as possible, and gets its own request for the rest.
 */
function requestsFor(
  { container, at }: Placed,
  resource: string,
  deviceClassName: string,
  reusable: readonly Request[],
) {
  const amounts = container.resources?.requests ?? {}
  const reused: Request[] = []
  let missing = Number(wholeValue(String(amounts[resource] ?? '0')))
  for (const request of reusable) {
    if (missing <= 0) break
    reused.push(request)
    missing -= countOf(request)
  }
  const name = `container-${at}-request-${Object.keys(amounts).sort().indexOf(resource)}`
  const own: Request | undefined =
    missing > 0 ? { name, exactly: { deviceClassName, allocationMode: 'ExactCount', count: missing } } : undefined
  return { container, at, reused, own }
}
