import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Node } from '../../../../client/kinds.ts'
import { serviceWith } from '../../pods.fixture.ts'
import type { SlicePlan } from '../slice.ts'
import { topologyHints, zoneShares } from './topology.ts'
import { withDistributionHints } from './traffic-distribution.ts'

/** A slice with one endpoint for each letter (zone); lower case is not ready. */
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

const cases: { title: string; zones: string; shares?: ReadonlyMap<string, number>; hints: string; problem?: string }[] =
  [
    {
      title: 'balanced endpoints stay in their zones',
      zones: 'ABAB',
      shares: equal,
      hints: 'ABAB',
    },
    { title: 'unready endpoints have no hint', zones: 'ABbAB', shares: equal, hints: 'AB.AB' },
    { title: 'a zone with surplus endpoints serves one with too few', zones: 'AAAB', shares: equal, hints: 'BAAB' },
    {
      title: 'without zone shares no hints are set',
      zones: 'AB',
      hints: '..',
      problem: 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
    },
    {
      title: 'fewer endpoints than zones',
      zones: 'A',
      shares: equal,
      hints: '.',
      problem: 'Insufficient number of endpoints (1 endpoints, 2 zones)',
    },
    {
      title: 'three endpoints in two zones exceed the overload threshold',
      zones: 'AAB',
      shares: equal,
      hints: '...',
      problem:
        'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 ' +
        'endpoints, 2 zones)',
    },
    {
      title: 'an endpoint without a zone',
      zones: 'AB?B',
      shares: equal,
      hints: '....',
      problem: 'One or more endpoints do not have a zone specified',
    },
  ]

for (const { title, zones, shares, hints, problem } of cases) {
  test(`topologyHints: ${title}`, () => {
    const result = topologyHints(plan({ create: [slice(zones)] }), shares, 'IPv4')
    assert.equal(hintsOf(result.plan.create), hints)
    assert.equal(result.problem, problem && `${problem}, addressType: IPv4`)
  })
}

test('topologyHints does not update slices with correct hints', () => {
  const { create } = topologyHints(plan({ create: [slice('ABAB')] }), equal, 'IPv4').plan
  const repeated = topologyHints(plan({ unchanged: create }), equal, 'IPv4').plan
  assert.deepEqual([repeated.update.length, repeated.unchanged.length], [0, 1])
  const without = topologyHints(plan({ unchanged: create }), undefined, 'IPv4').plan
  assert.equal(hintsOf(without.update), '....')
})

const node = (zone: string | undefined, cpu: string, labels: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels: { ...labels, ...(zone && { 'topology.kubernetes.io/zone': zone }) } },
  status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: 'True' }] },
})

test('zoneShares weights zones by CPUs without control planes, and needs zones on all nodes', () => {
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

test('trafficDistribution sets hints for the zone or node of an endpoint', () => {
  const unchanged = [slice('ABa')]
  const zones = withDistributionHints(plan({ unchanged }), serviceWith({ trafficDistribution: 'PreferClose' }))
  assert.equal(hintsOf(zones.update), 'AB.')
  assert.equal(
    withDistributionHints(plan({ unchanged: zones.update }), serviceWith({ trafficDistribution: 'PreferSameZone' }))
      .update.length,
    0,
  )
  const nodes = withDistributionHints(
    plan({ unchanged: zones.update }),
    serviceWith({ trafficDistribution: 'PreferSameNode' }),
  )
  assert.deepEqual(nodes.update[0]?.endpoints?.[0]?.hints, {
    forZones: [{ name: 'A' }],
    forNodes: [{ name: 'node-0' }],
  })
  assert.equal(hintsOf(withDistributionHints(plan({ unchanged: nodes.update }), serviceWith()).update), '...')
})
