/**
 * Topology hints (KEP-2433): endpoints are allocated to zones in proportion to their CPUs, so that traffic stays in its
 * zone without overload.
 */
import type { EndpointSlice, Node, Service } from '../../../../client/kinds.ts'
import { milliValue } from '../../../../machinery/values/quantity.ts'
import { zoneLabel } from '../pod-endpoints.ts'
import type { AddressType, SlicePlan } from '../slice.ts'
import { type Hints, isReadyEndpoint, removeHints, withHints } from './hinted-slices.ts'

/** The share of all CPUs by zone. */
export type ZoneShares = ReadonlyMap<string, number>

/** Maximum overload of an endpoint. */
const overload = 0.2
const annotations = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode']
const controlPlaneLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

/** Returns true if a Service requests topology hints. */
export function wantsTopologyHints({ metadata }: Service): boolean {
  const value = annotations.map((name) => metadata.annotations?.[name]).find((mode) => mode !== undefined)
  return value === 'Auto' || value === 'auto'
}

/** The shares of zones; undefined if a node has no zone or CPUs, or with fewer than two zones. */
export function zoneShares(nodes: Iterable<Node>): ZoneShares | undefined {
  const cpus = new Map<string, number>()
  let total = 0
  for (const { metadata, status } of nodes) {
    const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
    if (!isReady || controlPlaneLabels.some((label) => metadata.labels?.[label] !== undefined)) continue
    const zone = metadata.labels?.[zoneLabel]
    const cpu = Number(milliValue(status?.allocatable?.cpu ?? '0'))
    if (!zone || cpu === 0) return undefined
    cpus.set(zone, (cpus.get(zone) ?? 0) + cpu)
    total += cpu
  }
  return cpus.size < 2 ? undefined : new Map([...cpus].map(([zone, cpu]) => [zone, cpu / total]))
}

interface Allocation {
  readonly minimum: number
  readonly maximum: number
  readonly desired: number
}

const messages = {
  nodes: 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  endpoints: 'Insufficient number of endpoints',
  overload: 'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold',
  zone: 'One or more endpoints do not have a zone specified',
  none: 'No hints allocated for zones',
}

export interface TopologyHints {
  readonly plan: SlicePlan
  /** The reason if no hints are set. */
  readonly problem?: string
}

/** Returns the plan with hints, or without hints and the reason. */
export function topologyHints(
  plan: SlicePlan,
  shares: ZoneShares | undefined,
  addressType: AddressType,
): TopologyHints {
  const withoutHints = (reason: string): TopologyHints => ({
    plan: removeHints(plan),
    problem: `${reason}, addressType: ${addressType}`,
  })
  const all = [...plan.create, ...plan.update, ...plan.unchanged].flatMap(({ endpoints }) => endpoints ?? [])
  const ready = all.filter(isReadyEndpoint)
  const allocations = allocationsOf(shares, ready.length)
  if (typeof allocations === 'string') return withoutHints(allocations)
  if (ready.some(({ zone }) => !zone)) return withoutHints(messages.zone)

  const allocated = new Map<string, number>()
  const unchanged: EndpointSlice[] = []
  const update = [...plan.update]
  for (const slice of plan.unchanged) {
    const zones = reusableHints(slice, allocated, allocations)
    if (!zones) update.push(slice)
    else {
      unchanged.push(slice)
      for (const [zone, count] of zones) add(allocated, zone, count)
    }
  }
  for (const { endpoints } of [...plan.create, ...update])
    for (const endpoint of endpoints ?? []) if (isReadyEndpoint(endpoint)) add(allocated, endpoint.zone ?? '', 1)
  if (allocated.size === 0) return withoutHints(messages.none)
  const { giving, receiving } = moves(allocations, allocated)
  const share = (slice: EndpointSlice): EndpointSlice =>
    withHints(slice, (endpoint): Hints | undefined => {
      if (!isReadyEndpoint(endpoint)) return undefined
      const zone = endpoint.zone ?? ''
      const [other] = giving.has(zone) ? receiving.keys() : []
      if (other === undefined) return { forZones: [{ name: zone }] }
      add(giving, zone, -1)
      add(receiving, other, -1)
      return { forZones: [{ name: other }] }
    })
  return { plan: { create: plan.create.map(share), update: update.map(share), remove: plan.remove, unchanged } }
}

/** Adds to a count; removes it at 0. */
function add(counts: Map<string, number>, zone: string, more: number): void {
  const count = (counts.get(zone) ?? 0) + more
  if (count === 0) counts.delete(zone)
  else counts.set(zone, count)
}

/** The number of endpoints that each zone should have, or the reason why no allocation is possible. */
function allocationsOf(shares: ZoneShares | undefined, endpoints: number): ReadonlyMap<string, Allocation> | string {
  if (!shares) return messages.nodes
  const numbers = `(${endpoints} endpoints, ${shares.size} zones)`
  if (shares.size > endpoints) return `${messages.endpoints} ${numbers}`
  const desiredCounts = [...shares].map(([zone, share]) => ({
    zone,
    desired: share * endpoints,
    minimum: Math.ceil((share * endpoints) / (1 + overload)),
  }))
  const spare = endpoints - desiredCounts.reduce((sum, { minimum }) => sum + minimum, 0)
  if (spare < 0) return `${messages.overload} ${numbers}`
  return new Map(
    desiredCounts.map(({ zone, desired, minimum }) => [
      zone,
      { minimum, maximum: minimum + spare, desired: Math.max(desired, minimum) },
    ]),
  )
}

/** The number of hints by zone of a slice; undefined if its hints must change. */
function reusableHints(
  { endpoints }: EndpointSlice,
  allocated: ReadonlyMap<string, number>,
  allocations: ReadonlyMap<string, Allocation>,
): ReadonlyMap<string, number> | undefined {
  const zones = new Map<string, number>()
  for (const endpoint of endpoints ?? []) {
    if (!isReadyEndpoint(endpoint)) continue
    const hinted = endpoint.hints?.forZones ?? []
    if (hinted.length === 0) return undefined
    for (const { name } of hinted) add(zones, name, 1)
  }
  for (const [zone, count] of zones)
    if (count + (allocated.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? 0)) return undefined
  return zones
}

/** The numbers of endpoints that zones give and receive; differences below half an endpoint are ignored. */
function moves(allocations: ReadonlyMap<string, Allocation>, allocated: ReadonlyMap<string, number>) {
  const spare = new Map<string, number>()
  const lack = new Map<string, number>()
  for (const [zone, { desired }] of allocations) {
    const difference = (allocated.get(zone) ?? 0) - desired
    if (difference > 0) spare.set(zone, difference)
    else if (difference < 0) lack.set(zone, -difference)
  }
  const giving = new Map<string, number>()
  const receiving = new Map<string, number>()
  for (;;) {
    const from = largest(spare)
    const to = largest(lack)
    if (!from || !to || (from.count < 1 && to.count < 1) || from.count < 0.5 || to.count < 0.5)
      return { giving, receiving }
    add(giving, from.zone, 1)
    spare.set(from.zone, from.count - 1)
    add(receiving, to.zone, 1)
    lack.set(to.zone, to.count - 1)
  }
}

function largest(counts: ReadonlyMap<string, number>): { readonly zone: string; readonly count: number } | undefined {
  let best: { zone: string; count: number } | undefined
  for (const [zone, count] of counts) if (count > (best?.count ?? 0)) best = { zone, count }
  return best
}
