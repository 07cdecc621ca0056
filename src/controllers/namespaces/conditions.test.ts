import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusFor } from './conditions.ts'
import type { ContentReport } from './content.ts'

const then = '2026-01-01T00:00:00Z'
const now = '2026-01-02T00:00:00Z'
const empty: ContentReport = { failures: [], remaining: [], estimate: 0 }
const configMaps = { group: '', version: 'v1', plural: 'configmaps' }
const deployments = { group: 'apps', version: 'v1', plural: 'deployments' }

test('an empty namespace gets five False conditions, which are written once', () => {
  const status = statusFor({ phase: 'Terminating' }, empty, then)
  assert.equal(status?.phase, 'Terminating')
  assert.deepEqual(
    status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    [
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
      ['NamespaceContentRemaining', 'False', 'ContentRemoved'],
      ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers'],
    ],
  )
  assert.equal(statusFor(status, empty, now), undefined)
})

test('remaining content is listed by kind and finalizer, and transition times change with the status', () => {
  const held = { ...empty, remaining: [{ resource: deployments, count: 1, finalizers: new Map() }] }
  const first = statusFor({ phase: 'Terminating', conditions: [{ type: 'Mine', status: 'True' }] }, held, then)
  const report = {
    ...held,
    remaining: [
      ...held.remaining,
      {
        resource: configMaps,
        count: 2,
        finalizers: new Map([
          ['b/b', 2],
          ['a/a', 1],
        ]),
      },
    ],
  }
  const conditions = statusFor(first, report, now)?.conditions ?? []
  const of = (type: string) => conditions.find((condition) => condition.type === type)
  assert.equal(of('Mine')?.status, 'True')
  assert.equal(
    of('NamespaceContentRemaining')?.message,
    'Some resources are remaining: configmaps. has 2 resource instances, deployments.apps has 1 resource instances',
  )
  assert.equal(of('NamespaceContentRemaining')?.lastTransitionTime, then)
  assert.equal(
    of('NamespaceFinalizersRemaining')?.message,
    'Some content in the namespace has finalizers remaining: a/a in 1 resource instances, b/b in 2 resource instances',
  )
  assert.equal(of('NamespaceFinalizersRemaining')?.lastTransitionTime, now)
})

test('failures are listed with their number', () => {
  const conditions =
    statusFor(undefined, { ...empty, failures: ['z', 'a'], discoveryFailure: 'no' }, now)?.conditions ?? []
  const of = (type: string) => conditions.find((condition) => condition.type === type)
  assert.equal(of('NamespaceDeletionContentFailure')?.message, 'Failed to delete all resource types, 2 remaining: a, z')
  assert.deepEqual(
    [of('NamespaceDeletionDiscoveryFailure')?.reason, of('NamespaceDeletionDiscoveryFailure')?.message],
    ['DiscoveryFailed', 'no'],
  )
})
