/** The pools of devices that a node can reach, from ResourceSlices. */

import type { Node } from '../../../../client/kinds.ts'
import { type NodeMatcher, nodeSelectorOf } from '../../../../machinery/selectors/node-selector.ts'
import type { Lister } from '../../../framework/index.ts'
import { type CounterSet, type Device, deviceId, type ResourceSlice } from './devices.ts'

/** A device of a pool that a node can reach. */
export interface PoolDevice {
  readonly id: string
  readonly driver: string
  readonly pool: Pool
  readonly slice: ResourceSlice
  readonly device: Device
}

export interface Pool {
  readonly driver: string
  readonly name: string
  /** The reason why the pool is not used: its driver has not published all slices yet, or they are inconsistent. */
  readonly fault?: 'incomplete' | 'invalid'
  readonly devices: readonly PoolDevice[]
  /** All devices that consume its counters, on any node, by id. */
  readonly consumers: ReadonlyMap<string, Device>
  readonly counterSets: ReadonlyMap<string, CounterSet>
}

type Place = Pick<Device, 'nodeName' | 'allNodes' | 'nodeSelector'>
type WireNodeSelector = NonNullable<Place['nodeSelector']>

const matchers = new WeakMap<WireNodeSelector, NodeMatcher>()

function matcherOf(selector: WireNodeSelector): NodeMatcher {
  let matcher = matchers.get(selector)
  if (!matcher) matchers.set(selector, (matcher = nodeSelectorOf(selector)))
  return matcher
}

/** Returns true if a slice or a device is available on the node. */
function isFor({ nodeName, allNodes, nodeSelector }: Place, node: Node): boolean {
  if (nodeName) return nodeName === node.metadata.name
  return allNodes === true || (nodeSelector !== undefined && matcherOf(nodeSelector)(node))
}

const poolKey = ({ spec }: ResourceSlice): string => `${spec.driver}/${spec.pool.name}`
const byPool = (slice: ResourceSlice): readonly string[] => [`pool ${poolKey(slice)}`]
/** The index: slices of one node, and slices whose selector has to be evaluated. */
const byNode = ({ spec }: ResourceSlice): readonly string[] => [spec.nodeName ? `node ${spec.nodeName}` : 'any node']

const reaches = ({ spec }: ResourceSlice, node: Node): boolean =>
  (spec.sharedCounters?.length ?? 0) > 0 ||
  isFor(spec, node) ||
  (spec.perDeviceNodeSelection === true && (spec.devices ?? []).some((device) => isFor(device, node)))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byName = (a: Pool, b: Pool): number => compare(a.driver, b.driver) || compare(a.name, b.name)

/** Returns the pools sorted by driver and name. Pools with binding conditions come last. */
export function poolsOf(node: Node, slices: Lister<ResourceSlice>): Pool[] {
  const found = new Map<string, ResourceSlice[]>()
  for (const group of [`node ${node.metadata.name}`, 'any node']) {
    for (const slice of slices.by(byNode, group)) {
      if (!reaches(slice, node)) continue
      const others = found.get(poolKey(slice))
      const generation = others?.[0]?.spec.pool.generation ?? -1
      if (!others || slice.spec.pool.generation > generation) found.set(poolKey(slice), [slice])
      else if (slice.spec.pool.generation === generation) others.push(slice)
    }
  }
  const pools = [...found]
    .flatMap(([key, ofPool]) => poolOf(ofPool, [...slices.by(byPool, `pool ${key}`)], node) ?? [])
    .sort(byName)
  const waits = ({ devices }: Pool): boolean =>
    devices.some(({ device }) => (device.bindingConditions?.length ?? 0) > 0)
  return [...pools.filter((pool) => !waits(pool)), ...pools.filter(waits)]
}

/** Undefined if the driver has a newer generation without slices for this node. */
function poolOf(reached: readonly ResourceSlice[], all: readonly ResourceSlice[], node: Node): Pool | undefined {
  const [first] = reached
  if (!first) return undefined
  const { driver, pool } = first.spec
  if (all.some(({ spec }) => spec.pool.generation > pool.generation)) return undefined
  const current = all.filter(({ spec }) => spec.pool.generation === pool.generation)
  const base = { driver, name: pool.name, devices: [], consumers: new Map(), counterSets: new Map() }
  if (current.length !== pool.resourceSliceCount) return { ...base, fault: 'incomplete' }
  const counterSets = countersOf(current)
  const withDevices = current.flatMap(({ spec }) => spec.devices ?? [])
  if (!counterSets || !isConsistent(withDevices, counterSets) || hasTwice(reached)) return { ...base, fault: 'invalid' }
  const devices: PoolDevice[] = []
  const consumers = new Map(
    withDevices
      .filter(({ consumesCounters }) => consumesCounters)
      .map((device) => [deviceId(driver, pool.name, device.name), device]),
  )
  const whole: Pool = { ...base, devices, consumers, counterSets }
  for (const slice of [...reached].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)))
    for (const device of slice.spec.devices ?? [])
      if (!slice.spec.perDeviceNodeSelection || isFor(device, node))
        devices.push({ id: deviceId(driver, pool.name, device.name), driver, pool: whole, slice, device })
  return whole
}

function countersOf(slices: readonly ResourceSlice[]): Map<string, CounterSet> | undefined {
  const sets = new Map<string, CounterSet>()
  for (const { spec } of slices) {
    for (const set of spec.sharedCounters ?? []) {
      if (sets.has(set.name)) return undefined
      sets.set(set.name, set)
    }
  }
  return sets
}

/** Returns true if devices consume only counters that exist. */
const isConsistent = (devices: readonly Device[], sets: ReadonlyMap<string, CounterSet>): boolean =>
  devices.every(({ consumesCounters = [] }) =>
    consumesCounters.every(({ counterSet, counters }) => {
      const known = sets.get(counterSet)?.counters
      return known !== undefined && Object.keys(counters).every((name) => Object.hasOwn(known, name))
    }),
  )

function hasTwice(slices: readonly ResourceSlice[]): boolean {
  const names = slices.flatMap(({ spec }) => (spec.devices ?? []).map(({ name }) => name))
  return new Set(names).size < names.length
}
