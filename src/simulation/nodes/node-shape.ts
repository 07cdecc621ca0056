/** The shape of a simulated node: capacity, location, labels and taints. */

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
}

export type Quantities = Readonly<Record<string, string>>

export interface NodeShape {
  readonly capacity: Quantities
  /** Default: the capacity. */
  readonly allocatable?: Quantities
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly architecture: string
}

/** The capacity of a laptop, with a kubelet's default number of pods. */
export const defaultCapacity: Quantities = {
  cpu: '4',
  memory: '16Gi',
  'ephemeral-storage': '100Gi',
  pods: '110',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
}

export const defaultShape: NodeShape = { capacity: defaultCapacity, architecture: 'amd64' }

/** A group of equal nodes: `NAME-1`, `NAME-2`, … */
export interface NodeGroup {
  readonly name: string
  /** Default: the rest of the fleet; allowed for one group. */
  readonly count?: number
  readonly shape: NodeShape
  /** The nodes are assigned to these zones in turns. */
  readonly zones?: readonly string[]
  /** Default behaviour of pods on these nodes: annotations without their prefix. */
  readonly pods?: Readonly<Record<string, string>>
}

export const defaultGroup: NodeGroup = { name: 'node', shape: defaultShape }

const zoneLabel = 'topology.kubernetes.io/zone'
const regionLabel = 'topology.kubernetes.io/region'

/** A node that should exist. */
export interface PlannedNode {
  readonly name: string
  readonly shape: NodeShape
}

/** The names of existing nodes. */
export interface PresentNames {
  /** Nodes of the fleet, which are retained before new ones are created. */
  readonly own: readonly string[]
  /** All other nodes, whose names are not available. */
  readonly taken: ReadonlySet<string>
}

const nonePresent: PresentNames = { own: [], taken: new Set() }

/** Plans the nodes of all groups: as many as `count`, and for the group without a count the rest of `size`. */
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

/** The numbers of a group's nodes, ascending: existing nodes first, then the lowest free numbers. */
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
