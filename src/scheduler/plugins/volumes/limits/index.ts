/** NodeVolumeLimits: at most as many volumes of a driver as the node's CSINode allows. */
import { type CSINode, csiNodes } from '../../../../client/kinds.ts'
import {
  type EventRegistration,
  type Handle,
  type Lister,
  type NodeInfo,
  on,
  type Plugin,
  type PodInfo,
  type PreFiltered,
  pluginFactory,
  type Status,
  skip,
  unresolvable,
  unschedulable,
} from '../../../framework/index.ts'
import { type PodVolume, usesClaim } from '../pod-volumes.ts'
import { type Attached, AttachedVolumes } from './attached-volumes.ts'
import { inTreeVolume } from './migration.ts'

const tooMany = unschedulable('node(s) exceed max volume count')

export const nodeVolumeLimits = pluginFactory({
  name: 'NodeVolumeLimits',
  make: (_args, handle) => new NodeVolumeLimits(handle),
})

const mayAttach = ({ persistentVolumeClaim, ephemeral, ...source }: PodVolume): boolean =>
  Boolean(persistentVolumeClaim ?? ephemeral ?? inTreeVolume(source))

const events: readonly EventRegistration[] = [
  on(
    'CSINode',
    ['Add', 'Update'],
    (_pod, before, after) => !before || after === undefined || mayHoldMore(before, after),
  ),
  on(
    'Pod',
    ['Delete'],
    (pod, before) => before?.spec?.volumes?.some(mayAttach) === true && pod.pod.spec?.volumes !== undefined,
  ),
  on('PersistentVolumeClaim', ['Add', 'Update'], (pod, _before, after) => usesClaim(pod, after)),
  on('VolumeAttachment', ['Delete']),
]

class NodeVolumeLimits implements Plugin {
  readonly events = events
  readonly #csiNodes: Lister<CSINode>
  readonly #volumes: AttachedVolumes

  constructor(handle: Handle) {
    this.#csiNodes = handle.lister(csiNodes)
    this.#volumes = new AttachedVolumes(handle)
  }

  preFilter(pod: PodInfo): PreFiltered<unknown> | Status {
    return pod.pod.spec?.volumes?.some(mayAttach) ? { state: undefined } : skip
  }

  filter(_state: unknown, pod: PodInfo, node: NodeInfo): Status | undefined {
    const csiNode = this.#csiNodes.get('', node.name)
    const limits = csiNode && limitsOf(csiNode)
    if (!limits || limits.size === 0) return undefined
    const missing = this.#volumes.missingClaim(pod)
    if (missing) return unresolvable(`persistentvolumeclaim "${missing}" not found`)
    const attached = this.#volumes.of(node, csiNode)
    const added = [...this.#volumes.ofPod(pod, csiNode)].filter(({ id }) => !attached.has(id))
    for (const [driver, ids] of idsByDriver(added)) {
      const used = [...attached.values()].filter((other) => other === driver).length
      if (used + ids.size > (limits.get(driver) ?? Number.POSITIVE_INFINITY)) return tooMany
    }
    return undefined
  }
}

function idsByDriver(volumes: readonly Attached[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byDriver = new Map<string, Set<string>>()
  for (const { driver, id } of volumes) byDriver.set(driver, (byDriver.get(driver) ?? new Set()).add(id))
  return byDriver
}

/** A CSINode without drivers has null in their place. */
type Drivers = CSINode['spec']['drivers'] | null

function limitsOf({ spec }: CSINode): Map<string, number> {
  const drivers: Drivers = spec.drivers
  return new Map(
    (drivers ?? []).flatMap(({ name, allocatable }) =>
      allocatable?.count === undefined ? [] : [[name, allocatable.count] as const],
    ),
  )
}

function mayHoldMore(before: CSINode, after: CSINode): boolean {
  const [was, is] = [limitsOf(before), limitsOf(after)]
  return [...was].some(([driver, count]) => (is.get(driver) ?? Number.POSITIVE_INFINITY) > count)
}
