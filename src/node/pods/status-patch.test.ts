import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodStatus } from './pod-types.ts'
import { type PatchedPart, statusPatch } from './status-patch.ts'

const condition = (type: string, status: string, more: object = {}) => ({ type, status, ...more }) as never
const ready = condition('Ready', 'True')
const gate = condition('example.com/gate', 'True')

const cases: readonly {
  readonly name: string
  readonly before: PodStatus
  readonly after: PodStatus
  readonly part: PatchedPart
  readonly patch: object | undefined
}[] = [
  { name: 'equal statuses', before: { phase: 'Running' }, after: { phase: 'Running' }, part: 'own', patch: undefined },
  {
    name: 'fields that differ and fields that are gone',
    before: { phase: 'Pending', reason: 'Old', hostIP: '10.0.0.1' },
    after: { phase: 'Running', hostIP: '10.0.0.1' },
    part: 'own',
    patch: { phase: 'Running', reason: null },
  },
  {
    name: 'addresses, which are merged by IP',
    before: { podIPs: [{ ip: '10.0.0.1' }] },
    after: { podIPs: [{ ip: '10.0.0.2' }] },
    part: 'own',
    patch: { podIPs: [{ ip: '10.0.0.1', $patch: 'delete' }, { ip: '10.0.0.2' }] },
  },
  {
    name: 'maps, which are merged by name',
    before: { resources: { limits: { cpu: '1', memory: '1Gi' } } },
    after: { resources: { limits: { cpu: '2' } } },
    part: 'own',
    patch: { resources: { limits: { memory: null, cpu: '2' } } },
  },
  {
    name: 'empty fields that are new',
    before: { phase: 'Running' },
    after: { phase: 'Running', resources: {} },
    part: 'own',
    patch: { resources: {} },
  },
  {
    name: 'no conditions and fields of others',
    before: { conditions: [ready, gate], resourceClaimStatuses: [{ name: 'gpu' }] },
    after: { conditions: [ready] },
    part: 'own',
    patch: undefined,
  },
  {
    name: 'all conditions of a kubelet in their order if one is new',
    before: { conditions: [condition('PodScheduled', 'True')] },
    after: { conditions: [ready, condition('PodScheduled', 'True'), gate] },
    part: 'own',
    patch: { conditions: [ready, condition('PodScheduled', 'True')] },
  },
  {
    name: 'conditions of a kubelet that are gone, and fields of one that are',
    before: { conditions: [condition('PodResizePending', 'True'), condition('Ready', 'False', { reason: 'Old' })] },
    after: { conditions: [ready] },
    part: 'own',
    patch: {
      conditions: [{ type: 'PodResizePending', $patch: 'delete' }, condition('Ready', 'True', { reason: null })],
    },
  },
  {
    name: 'the conditions that differ, and all fields',
    before: { conditions: [ready, gate], resourceClaimStatuses: [{ name: 'gpu' }] },
    after: { conditions: [condition('Initialized', 'True'), ready] },
    part: 'all',
    patch: { conditions: [condition('Initialized', 'True')], resourceClaimStatuses: null },
  },
]

for (const { name, before, after, part, patch } of cases)
  test(`a patch of ${part === 'own' ? "a kubelet's status" : 'a whole status'} has ${name}`, () => {
    assert.deepEqual(statusPatch(before, after, part), patch)
  })
