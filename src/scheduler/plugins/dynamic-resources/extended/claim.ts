/**
 * The claim that the scheduler makes for a pod whose extended resources are devices of a driver: one for all of them.
 */
import { randomUUID } from 'node:crypto'
import type { Pod, ResourceClaim } from '../../../../client/kinds.ts'
import { controllerOf } from '../../../../client/objects/owners.ts'
import { wholeValue } from '../../../../machinery/values/quantity.ts'
import type { PodInfo } from '../../../framework/index.ts'
import type { Request } from '../allocation/devices.ts'

const annotation = 'resource.kubernetes.io/extended-resource-claim'

type Container = NonNullable<Pod['spec']>['containers'][number]
export type RequestMapping = NonNullable<
  NonNullable<Pod['status']>['extendedResourceClaimStatus']
>['requestMappings'][number]

/** What was made for the pod before, and may be of no use now. */
export function leftOver(pod: PodInfo, claims: Iterable<ResourceClaim>): ResourceClaim | undefined {
  for (const claim of claims)
    if (claim.metadata.annotations?.[annotation] === 'true' && controllerOf(claim)?.uid === pod.pod.metadata.uid)
      return claim
  return undefined
}

/** No claim can be called so: this one is not there yet. */
const nameInMemory = '<extended-resources>'

/** A claim for the pod that is not there yet: its uid is made up. */
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

export interface Asked {
  readonly requests: Request[]
  /** Which container uses which request. */
  readonly mappings: RequestMapping[]
}

/** What the containers of a pod ask for, of these resources; `classes` has the class of each. */
export function requestsOf({ pod }: PodInfo, classes: ReadonlyMap<string, string>): Asked {
  const initial = pod.spec?.initContainers ?? []
  const containers = [...initial, ...(pod.spec?.containers ?? [])].map((container, at) => ({ container, at }))
  const isShort = ({ container, at }: Placed): boolean => at < initial.length && container.restartPolicy !== 'Always'
  const asked: Asked = { requests: [], mappings: [] }
  for (const [resource, deviceClassName] of [...classes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const lasting = containers.filter((one) => !isShort(one)).map((one) => askedBy(one, resource, deviceClassName, []))
    // Containers that end before others begin use what these will have.
    const brief = containers.filter(isShort).map((one) => {
      const later = lasting.flatMap(({ at, own }) => (own && at > one.at ? own : []))
      return askedBy(one, resource, deviceClassName, later)
    })
    // What they need beyond that they have one after the other.
    const most = brief.reduce<Request | undefined>(
      (most, { own }) => (own && countOf(own) > countOf(most) ? own : most),
      undefined,
    )
    asked.requests.push(...lasting.flatMap(({ own }) => own ?? []), ...(most ? [most] : []))
    for (const { container, reused, own } of [...lasting, ...brief.map((one) => ({ ...one, own: one.own && most }))])
      for (const { name } of [...reused, ...(own ? [own] : [])])
        asked.mappings.push({ containerName: container.name, resourceName: resource, requestName: name })
  }
  asked.requests.sort((a, b) => (a.name < b.name ? -1 : 1))
  return asked
}

interface Placed {
  readonly container: Container
  readonly at: number
}

const countOf = (request: Request | undefined): number => Number(request?.exactly?.count ?? 0)

/**
 * What a container asks for of a resource: as much as it can of what is asked for already, and a request of its own for
 * the rest.
 */
function askedBy({ container, at }: Placed, resource: string, deviceClassName: string, reusable: readonly Request[]) {
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
