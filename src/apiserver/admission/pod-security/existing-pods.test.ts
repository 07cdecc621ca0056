import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../api/core/pod/model.ts'
import { existingPodWarnings } from './existing-pods.ts'

const enforce = { level: 'baseline', version: 'latest' } as const

/** A pod as the store returns it. */
function stored(name: string, spec: object, owner?: string) {
  const ownerReferences = owner
    ? [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }]
    : undefined
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ownerReferences },
    spec: { containers: [{ name: 'c' }], ...spec },
  }
  return { parse: <T extends Pod>() => pod as unknown as T }
}

const head = 'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"'
const warnings = (pods: ReturnType<typeof stored>[], more: Partial<Parameters<typeof existingPodWarnings>[0]> = {}) =>
  existingPodWarnings({ namespace: 'n', enforce, pods, isExempt: () => false, ...more })

test('equal violations are reported once, with the first name and the number of pods', async () => {
  const bad = { hostNetwork: true }
  assert.deepEqual(
    await warnings([
      stored('b', bad),
      stored('a', bad),
      stored('c', bad),
      stored('d', { hostPID: true, hostIPC: true }),
      stored('good', {}),
    ]),
    [head, 'a (and 3 other pods): host namespaces'],
  )
  assert.deepEqual(
    await warnings([
      stored('x', bad),
      stored('y', bad),
      stored('z', { containers: [{ name: 'c', securityContext: { privileged: true } }] }),
    ]),
    [head, 'x (and 1 other pod): host namespaces', 'z: privileged'],
  )
})

test('there is no warning if all pods are allowed or exempt', async () => {
  assert.deepEqual(await warnings([stored('a', {})]), [])
  assert.deepEqual(await warnings([stored('a', { hostPID: true })], { isExempt: () => true }), [])
})

test('at most 3,000 pods are checked, one of each controller first', async () => {
  const many = Array.from({ length: 3001 }, (_, i) => stored(`p${i}`, {}, 'set'))
  assert.deepEqual(await warnings([...many, stored('last', { hostPID: true })]), [
    'new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods',
    head,
    'last: host namespaces',
  ])
})

test('the check stops after a second', async () => {
  let clock = 0
  const lines = await warnings([stored('a', { hostPID: true }), stored('b', {}), stored('c', {})], {
    now: () => (clock += 600),
  })
  assert.deepEqual(lines, [
    'new PodSecurity enforce level only checked against the first 2 of 3 existing pods',
    head,
    'a: host namespaces',
  ])
})
