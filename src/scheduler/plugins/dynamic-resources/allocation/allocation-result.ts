/** The allocation in a claim's status for the chosen devices. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Chosen } from './allocator.ts'
import type { AllocatedConfig, AllocatedDevice, Allocation, ResourceClaim } from './devices.ts'
import { nameOf } from './requests.ts'

export function allocationOf(claim: ResourceClaim, chosen: readonly Chosen[], node: string): Allocation {
  const nodeSelector = selectorFor(chosen, node)
  const config = configOf(claim, chosen)
  return {
    devices: { results: chosen.map(resultOf), ...(config.length > 0 && { config }) },
    ...(nodeSelector && { nodeSelector }),
  }
}

function resultOf({ alternative, device: { driver, pool, device }, taken }: Chosen): AllocatedDevice {
  const { adminAccess, tolerations } = alternative.wants
  return {
    request: nameOf(alternative),
    driver,
    pool: pool.name,
    device: device.name,
    ...(adminAccess && { adminAccess }),
    ...(tolerations && { tolerations }),
    ...(device.bindingConditions && { bindingConditions: device.bindingConditions }),
    ...(device.bindingFailureConditions && { bindingFailureConditions: device.bindingFailureConditions }),
    ...(taken && { shareID: randomUUID(), consumedCapacity: { ...taken } }),
  }
}

/** The configuration of each class once, then that of the claim for the requests that were met. */
function configOf({ spec }: ResourceClaim, chosen: readonly Chosen[]): AllocatedConfig[] {
  const configs: AllocatedConfig[] = []
  const byClass = new Map<string, Set<string>>()
  for (const { alternative } of chosen) {
    const name = alternative.class.metadata.name ?? ''
    byClass.set(name, (byClass.get(name) ?? new Set()).add(nameOf(alternative)))
  }
  for (const [name, requests] of byClass) {
    const found = chosen.find(({ alternative }) => alternative.class.metadata.name === name)?.alternative.class
    for (const { opaque } of found?.spec.config ?? [])
      configs.push({ source: 'FromClass', requests: [...requests], ...(opaque && { opaque }) })
  }
  const met = new Set(chosen.flatMap(({ alternative }) => [alternative.request, nameOf(alternative)]))
  for (const { requests = [], opaque } of spec.devices?.config ?? [])
    if (requests.length === 0 || requests.some((request) => met.has(request)))
      configs.push({ source: 'FromClaim', ...(requests.length > 0 && { requests }), ...(opaque && { opaque }) })
  return configs
}

type NodeSelector = NonNullable<Allocation['nodeSelector']>
type Term = NodeSelector['nodeSelectorTerms'][number]

const onlyOn = (name: string): NodeSelector => ({
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
})

/** The nodes on which all of the devices can be used; undefined for all nodes. */
function selectorFor(chosen: readonly Chosen[], node: string): NodeSelector | undefined {
  const expressions: NonNullable<Term['matchExpressions']> = []
  const fields: NonNullable<Term['matchFields']> = []
  for (const { device } of chosen) {
    const place = device.slice.spec.perDeviceNodeSelection ? device.device : device.slice.spec
    if (device.device.bindsToNode) return onlyOn(node)
    if (place.nodeName) return onlyOn(place.nodeName)
    for (const { matchExpressions = [], matchFields = [] } of place.nodeSelector?.nodeSelectorTerms ?? []) {
      expressions.push(...matchExpressions.filter((one) => !expressions.some((other) => isDeepStrictEqual(one, other))))
      fields.push(...matchFields.filter((one) => !fields.some((other) => isDeepStrictEqual(one, other))))
    }
  }
  if (expressions.length + fields.length === 0) return undefined
  return {
    nodeSelectorTerms: [
      {
        ...(expressions.length > 0 && { matchExpressions: expressions }),
        ...(fields.length > 0 && { matchFields: fields }),
      },
    ],
  }
}
