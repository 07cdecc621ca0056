/** The claim that the scheduler makes for a pod whose extended resources are devices of a driver: one for all of them. */
import { randomUUID } from 'node:crypto'
import type { Pod, ResourceClaim } from '../../../../client/kinds.ts'
import { controllerOf } from '../../../../client/objects/owners.ts'
import { wholeValue } from '../../../../machinery/values/quantity.ts'
import type { PodInfo } from '../../../framework/index.ts'
import type { Request } from '../allocation/devices.ts'

const annotation = 'resource.kubernetes.io/extended-resource-claim'

type Container = NonNullable<Pod['spec']>['containers'][number]
export type RequestMapping = NonNullable<NonNullable<Pod['status']>['extendedResourceClaimStatus']>['requestMappings'][number]

/** What was made for the pod before, and may be of no use now. */
export function leftOver(pod: PodInfo, claims: Iterable<ResourceClaim>): ResourceClaim | undefined {
  for (const claim of claims) if (claim.metadata.annotations?.[annotation] === 'true' && controllerOf(claim)?.uid === pod.pod.metadata.uid) return claim
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
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid: pod.metadata.uid ?? '', controller: true, blockOwnerDeletion: true }],
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
  const isShort = ({ container, at }: { container: Container; at: number }): boolean => at < initial.length && container.restartPolicy !== 'Always'
  const asked: Asked = { requests: [], mappings: [] }
  for (const [resource, deviceClassName] of [...classes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const made: { request: Request; at: number; isShort: boolean }[] = []
    // Containers that end before others begin use what these will have.
    for (const one of [...containers.filter((container) => !isShort(container)), ...containers.filter(isShort)]) {
      const { container, at } = one
      const wanted = Number(wholeValue(String(container.resources?.requests?.[resource] ?? '0')))
      if (wanted === 0) continue
      const reusable = isShort(one) ? made.filter((other) => other.isShort || other.at > at) : []
      const used: Request[] = []
      let missing = wanted
      for (const { request } of reusable) {
        if (missing <= 0) break
        used.push(request)
        missing -= request.exactly?.count ?? 0
      }
      if (missing > 0) {
        const place = Object.keys(container.resources?.requests ?? {})
          .sort()
          .indexOf(resource)
        const request: Request = { name: `container-${at}-request-${place}`, exactly: { deviceClassName, allocationMode: 'ExactCount', count: missing } }
        made.push({ request, at, isShort: isShort(one) })
        asked.requests.push(request)
        used.push(request)
      }
      for (const { name } of used) asked.mappings.push({ containerName: container.name, resourceName: resource, requestName: name })
    }
  }
  return asked
}
