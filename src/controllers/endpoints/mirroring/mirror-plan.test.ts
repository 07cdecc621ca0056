import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Endpoints } from '../../../client/kinds.ts'
import { planMirror, shouldMirror } from './mirror-plan.ts'

const source = (subsets: NonNullable<Endpoints['subsets']>, more: Partial<Endpoints['metadata']> = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name: 'hand', namespace: 'ns', uid: 'uid-hand', ...more },
  subsets,
})

const stored = (slices: readonly EndpointSlice[]): EndpointSlice[] =>
  slices.map((slice, i) => ({
    ...slice,
    metadata: { ...slice.metadata, name: `hand-${i}`, uid: `${i}`, resourceVersion: '1' },
  }))

const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]

test('each subset and family gets a slice with labels and owner', () => {
  const { plan } = planMirror(
    source(
      [
        {
          addresses: [{ ip: '10.0.0.1', hostname: 'h' }, { ip: 'fd00::1' }],
          notReadyAddresses: [{ ip: '10.0.0.2' }],
          ports,
        },
      ],
      {
        labels: { team: 'a' },
        annotations: { note: 'n', 'endpoints.kubernetes.io/last-change-trigger-time': 'now' },
      },
    ),
    [],
    100,
  )
  assert.deepEqual(
    plan.create.map(({ addressType, endpoints }) => [addressType, endpoints]),
    [
      [
        'IPv4',
        [
          { addresses: ['10.0.0.1'], conditions: { ready: true }, hostname: 'h' },
          { addresses: ['10.0.0.2'], conditions: { ready: false } },
        ],
      ],
      ['IPv6', [{ addresses: ['fd00::1'], conditions: { ready: true } }]],
    ],
  )
  assert.deepEqual(plan.create[0]?.metadata, {
    namespace: 'ns',
    generateName: 'hand-',
    labels: {
      team: 'a',
      'kubernetes.io/service-name': 'hand',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    },
    annotations: { note: 'n' },
    ownerReferences: [
      {
        apiVersion: 'v1',
        kind: 'Endpoints',
        name: 'hand',
        uid: 'uid-hand',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  })
})

test('equal slices are unchanged, new addresses update a slice, new ports create one', () => {
  const existing = stored(
    planMirror(source([{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports }]), [], 100).plan.create,
  )
  const same = planMirror(source([{ addresses: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1' }], ports }]), existing, 100).plan
  assert.deepEqual([same.create, same.update, same.remove], [[], [], []])
  const changed = planMirror(source([{ addresses: [{ ip: '10.0.0.3' }], ports }]), existing, 100).plan
  assert.deepEqual(
    [changed.update[0]?.metadata.name, changed.update[0]?.endpoints?.[0]?.addresses],
    ['hand-0', ['10.0.0.3']],
  )
  const other = planMirror(source([{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 81 }] }]), existing, 100).plan
  assert.deepEqual([other.create.length, other.remove.length], [1, 1])
})

test('invalid addresses and those beyond the limit are skipped', () => {
  const { plan, invalid, exceeding } = planMirror(
    source([{ addresses: [{ ip: 'x' }, { ip: '10.0.0.1' }, { ip: '10.0.0.2' }, { ip: '10.0.0.3' }], ports }]),
    [],
    2,
  )
  assert.deepEqual([plan.create[0]?.endpoints?.length, invalid, exceeding], [2, 1, 1])
})

test('Endpoints with the skip label and leader election locks are not mirrored', () => {
  assert.equal(shouldMirror(source([])), true)
  assert.equal(shouldMirror(source([], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } })), false)
  assert.equal(shouldMirror(source([], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } })), false)
})
