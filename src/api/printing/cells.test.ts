/** Table cells with special formats. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { allResources } from '../registry.ts'
import { resourceKey } from '../resource.ts'

const cell = (key: string, column: string, rest: object, metadata: object = {}) => {
  const definition = allResources.find((one) => resourceKey(one) === key)
  const object = { apiVersion: 'x', kind: 'X', metadata: { name: 'x', ...metadata }, ...rest } as KubeObject
  return definition?.columns?.find(({ name }) => name === column)?.cell(object)
}

test('Hosts of an Ingress shows three hosts and the number of further rules', () => {
  const hosts = (...rules: (string | undefined)[]) =>
    cell('networking.k8s.io/v1/ingresses', 'Hosts', { spec: { rules: rules.map((host) => ({ host })) } })
  assert.equal(hosts(), '*')
  assert.equal(hosts(undefined, undefined), '*')
  assert.equal(hosts('a', 'b', 'c'), 'a,b,c')
  assert.equal(hosts('a', 'b', 'c', 'd', 'e'), 'a,b,c + 2 more...')
  assert.equal(hosts('a', undefined, 'b', 'c'), 'a,b,c')
  assert.equal(hosts('a', undefined, 'b', 'c', 'd'), 'a,b,c + 2 more...')
  assert.equal(hosts('a', 'b', 'c', undefined), 'a,b,c + 1 more...')
})

test('ParamRef of a policy binding shows the namespace, *, or a Go selector', () => {
  const params = (paramRef?: object) =>
    cell('admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', 'ParamRef', { spec: { paramRef } })
  assert.equal(params(), '<unset>')
  assert.equal(params({ name: 'p', namespace: 'ns' }), 'ns/p')
  assert.equal(params({ name: 'p' }), '*/p')
  assert.equal(params({ namespace: 'ns' }), '<unset>')
  assert.equal(
    params({
      selector: {
        matchLabels: { b: '2', a: '1' },
        matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }],
      },
    }),
    '&LabelSelector{MatchLabels:map[string]string{a: 1,b: ' +
      '2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
  )
})

test('State of a ResourceClaim is reserved only while it is allocated', () => {
  const state = (status: object, metadata?: object) =>
    cell('resource.k8s.io/v1/resourceclaims', 'State', { status }, metadata)
  assert.equal(state({ reservedFor: [{}] }), 'pending')
  assert.equal(state({ allocation: {}, reservedFor: [{}] }), 'allocated,reserved')
  assert.equal(state({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'deleted')
})

test('Last Seen of an event with a series shows the time of the series, even if unknown', () => {
  const lastTimestamp = '2026-01-01T00:00:00Z'
  for (const [key, last] of [
    ['v1/events', { lastTimestamp, count: 4 }],
    ['events.k8s.io/v1/events', { deprecatedLastTimestamp: lastTimestamp, deprecatedCount: 4 }],
  ] as const) {
    assert.deepEqual(cell(key, 'Last Seen', last), { since: lastTimestamp })
    assert.deepEqual(cell(key, 'Last Seen', { ...last, series: { lastObservedTime: null } }), { since: undefined })
    assert.equal(cell(key, 'Count', last), 4)
    assert.equal(cell(key, 'Count', { ...last, series: { count: 7 } }), 7)
  }
})

test('Ports of an EndpointSlice shows the number, the name or *', () => {
  const ports = (...ports: object[]) => cell('discovery.k8s.io/v1/endpointslices', 'Ports', { ports })
  assert.equal(ports(), '<unset>')
  assert.equal(ports({ port: 80 }, { name: 'web' }, {}), '80,web,*')
  assert.equal(ports({ name: '' }), '<unset>')
})

test('Status of a finished pod does not change during its deletion', () => {
  const state = (phase: string, more: object = {}) =>
    cell(
      'v1/pods',
      'Status',
      { spec: { containers: [] }, status: { phase, ...more } },
      { deletionTimestamp: '2026-01-01T00:00:00Z' },
    )
  assert.equal(state('Running'), 'Terminating')
  const terminated = { state: { terminated: { reason: 'Completed', exitCode: 0 } }, restartCount: 0 }
  assert.equal(state('Succeeded', { containerStatuses: [terminated] }), 'Completed')
  assert.equal(state('Failed', { reason: 'Evicted' }), 'Evicted')
  assert.equal(state('Failed', { reason: 'NodeLost' }), 'Unknown')
})
