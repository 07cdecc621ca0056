import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Node } from '../../../../client/kinds.ts'
import { serviceWith } from '../../pods-for-tests.ts'
import type { SlicePlan } from '../slice.ts'
import { topologyHints, zoneShares } from './topology.ts'
import { distributed } from './traffic-distribution.ts'

/** A slice with one endpoint for each zone that is named; those in lower case are not ready. */
const slice = (zones: string): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 's' },
  addressType: 'IPv4',
  endpoints: [...zones].map((zone, i) => ({
    addresses: [`10.0.0.${i}`],
    conditions: { ready: zone === zone.toUpperCase() },
    nodeName: `node-${i}`,
    ...(zone !== '?' && { zone: zone.toUpperCase() }),
  })),
})

const plan = (more: Partial<SlicePlan>): SlicePlan => ({ create: [], update: [], remove: [], unchanged: [], ...more })
const hintsOf = (slices: readonly EndpointSlice[]): string =>
  slices
    .flatMap(({ endpoints }) =>
      (endpoints ?? []).map(({ hints }) => hints?.forZones?.map(({ name }) => name).join('') || '.'),
    )
    .join('')

const equal = new Map([
  ['A', 0.5],
  ['B', 0.5],
])

const cases: { what: string; zones: string; shares?: ReadonlyMap<string, number>; hints: string; refusal?: string }[] =
  [
    {
      what: 'endpoints that are shared out as the CPUs are stay in their zones',
      zones: 'ABAB',
      shares: equal,
      hints: 'ABAB',
    },
    { what: 'what is not ready has no hint', zones: 'ABbAB', shares: equal, hints: 'AB.AB' },
    { what: 'a zone with too many gives to one with too few', zones: 'AAAB', shares: equal, hints: 'BAAB' },
    {
      what: 'without shares there are no hints',
      zones: 'AB',
      hints: '..',
      refusal: 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
    },
    {
      what: 'fewer endpoints than zones are too few',
      zones: 'A',
      shares: equal,
      hints: '.',
      refusal: 'Insufficient number of endpoints (1 endpoints, 2 zones)',
    },
    {
      what: 'three endpoints cannot be halved without overload',
      zones: 'AAB',
      shares: equal,
      hints: '...',
      refusal:
        'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 ' +
        'endpoints, 2 zones)',
    },
    {
      what: 'an endpoint without a zone',
      zones: 'AB?B',
      shares: equal,
      hints: '....',
      refusal: 'One or more endpoints do not have a zone specified',
    },
  ]

for (const { what, zones, shares, hints, refusal } of cases) {
  test(`topology: ${what}`, () => {
    const result = topologyHints(plan({ create: [slice(zones)] }), shares, 'IPv4')
    assert.equal(hintsOf(result.plan.create), hints)
    assert.equal(result.refusal, refusal && `${refusal}, addressType: IPv4`)
  })
}

test('topology: slices whose hints are right are not written again', () => {
  const { create } = topologyHints(plan({ create: [slice('ABAB')] }), equal, 'IPv4').plan
  const again = topologyHints(plan({ unchanged: create }), equal, 'IPv4').plan
  assert.deepEqual([again.update.length, again.unchanged.length], [0, 1])
  const without = topologyHints(plan({ unchanged: create }), undefined, 'IPv4').plan
  assert.equal(hintsOf(without.update), '....')
})

const node = (zone: string | undefined, cpu: string, labels: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels: { ...labels, ...(zone && { 'topology.kubernetes.io/zone': zone }) } },
  status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: 'True' }] },
})

test('topology: zones share as their CPUs do, control planes aside; a node without a zone spoils it', () => {
  const controlPlane = node('B', '8', { 'node-role.kubernetes.io/control-plane': '' })
  assert.deepEqual(
    [...(zoneShares([node('A', '3'), node('B', '500m'), node('B', '500m'), controlPlane]) ?? [])],
    [
      ['A', 0.75],
      ['B', 0.25],
    ],
  )
  assert.equal(zoneShares([node('A', '1'), node('B', '1'), node(undefined, '1')]), undefined)
  assert.equal(zoneShares([node('A', '1'), node('A', '1')]), undefined)
})

test('trafficDistribution: an endpoint serves its zone, or its node first; what has changed is written', () => {
  const unchanged = [slice('ABa')]
  const zones = distributed(plan({ unchanged }), serviceWith({ trafficDistribution: 'PreferClose' }))
  assert.equal(hintsOf(zones.update), 'AB.')
  assert.equal(
    distributed(plan({ unchanged: zones.update }), serviceWith({ trafficDistribution: 'PreferSameZone' })).update
      .length,
    0,
  )
  const nodes = distributed(plan({ unchanged: zones.update }), serviceWith({ trafficDistribution: 'PreferSameNode' }))
  assert.deepEqual(nodes.update[0]?.endpoints?.[0]?.hints, {
    forZones: [{ name: 'A' }],
    forNodes: [{ name: 'node-0' }],
  })
  assert.equal(hintsOf(distributed(plan({ unchanged: nodes.update }), serviceWith()).update), '...')
})
