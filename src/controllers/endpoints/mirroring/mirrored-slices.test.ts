import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, Endpoints } from '../../../client/kinds.ts'
import { mirrored, wantsMirror } from './mirrored-slices.ts'

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

test('each subset and family has a slice, which says whose it is', () => {
  const { plan } = mirrored(
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

test('what is mirrored already is left alone; other addresses change the slice, other ports bring another', () => {
  const existing = stored(
    mirrored(source([{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports }]), [], 100).plan.create,
  )
  const same = mirrored(source([{ addresses: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1' }], ports }]), existing, 100).plan
  assert.deepEqual([same.create, same.update, same.remove], [[], [], []])
  const changed = mirrored(source([{ addresses: [{ ip: '10.0.0.3' }], ports }]), existing, 100).plan
  assert.deepEqual(
    [changed.update[0]?.metadata.name, changed.update[0]?.endpoints?.[0]?.addresses],
    ['hand-0', ['10.0.0.3']],
  )
  const other = mirrored(source([{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 81 }] }]), existing, 100).plan
  assert.deepEqual([other.create.length, other.remove.length], [1, 1])
})

test('addresses that are none are left out, and so are those beyond the limit', () => {
  const { plan, invalid, tooMany } = mirrored(
    source([{ addresses: [{ ip: 'x' }, { ip: '10.0.0.1' }, { ip: '10.0.0.2' }, { ip: '10.0.0.3' }], ports }]),
    [],
    2,
  )
  assert.deepEqual([plan.create[0]?.endpoints?.length, invalid, tooMany], [2, 1, 1])
})

test('locks, and those that say so, are not mirrored', () => {
  assert.equal(wantsMirror(source([])), true)
  assert.equal(wantsMirror(source([], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } })), false)
  assert.equal(wantsMirror(source([], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } })), false)
})
