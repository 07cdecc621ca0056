/** What a simulated node is like: how large, where, with which labels and taints. */

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export type Quantities = Readonly<Record<string, string>>

export interface NodeShape {
  readonly capacity: Quantities
  /** What pods get of it: all unless said. */
  readonly allocatable?: Quantities
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly architecture: string
}

/** A laptop's share; a kubelet's number of pods. */
export const usualCapacity: Quantities = {
  cpu: '4',
  memory: '16Gi',
  'ephemeral-storage': '100Gi',
  pods: '110',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
}

export const usualShape: NodeShape = { capacity: usualCapacity, architecture: 'amd64' }

/** A group of nodes that are alike: `NAME-1`, `NAME-2`, … */
export interface NodeGroup {
  readonly name: string
  /** How many of them; the group without a number takes as many as are asked for. */
  readonly count?: number
  readonly shape: NodeShape
  /** Nodes are spread over these by turns. */
  readonly zones?: readonly string[]
  /** How pods on them behave that say nothing themselves, by the names of annotations without their prefix. */
  readonly pods?: Readonly<Record<string, string>>
}

export const usualGroup: NodeGroup = { name: 'node', shape: usualShape }

const zoneLabel = 'topology.kubernetes.io/zone'
const regionLabel = 'topology.kubernetes.io/region'

/** A node that shall be there. */
export interface PlannedNode {
  readonly name: string
  readonly shape: NodeShape
}

/** Names of nodes that are there already. */
export interface PresentNames {
  /** The fleet's own, which are kept before new ones are made. */
  readonly own: readonly string[]
  /** Those of all other nodes: their names are not given to new ones. */
  readonly taken: ReadonlySet<string>
}

const nonePresent: PresentNames = { own: [], taken: new Set() }

/** The nodes of groups: of those with a number so many, and of the last one without as many as are left of `size`. */
export function planNodes(
  groups: readonly NodeGroup[],
  size: number,
  present: PresentNames = nonePresent,
): PlannedNode[] {
  const fixed = groups.reduce((sum, { count = 0 }) => sum + count, 0)
  const planned = groups.flatMap(({ name, count, shape, zones }) => {
    const length = Math.max(0, count ?? size - fixed)
    return numbersOf(name, length, present).map((number) => ({
      name: `${name}-${number}`,
      shape: zones?.length ? inZone(shape, zones[(number - 1) % zones.length]!) : shape,
    }))
  })
  return planned.slice(0, size)
}

/**
 * So many numbers for nodes of a group, in their order: those that its nodes have, then the lowest ones that are free.
 */
function numbersOf(group: string, length: number, { own, taken }: PresentNames): number[] {
  const known = own.flatMap((name) =>
    name.startsWith(`${group}-`) && /^[1-9]\d*$/.test(name.slice(group.length + 1))
      ? Number(name.slice(group.length + 1))
      : [],
  )
  const numbers = new Set(known.toSorted((a, b) => a - b).slice(0, length))
  for (let number = 1; numbers.size < length; number++) if (!taken.has(`${group}-${number}`)) numbers.add(number)
  return [...numbers].toSorted((a, b) => a - b)
}

/** `zone` or `region/zone`. */
function inZone(shape: NodeShape, place: string): NodeShape {
  const [region, zone] = place.includes('/') ? (place.split('/') as [string, string]) : [undefined, place]
  return { ...shape, labels: { ...shape.labels, [zoneLabel]: zone, ...(region && { [regionLabel]: region }) } }
}
