import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podDefaults } from './defaults/pod-defaults.ts'
import { pods } from './index.ts'
import type { Pod } from './model.ts'
import { isCached } from './template-mates.ts'

const create = (pod: Pod): readonly string[] => {
  const faults = pods.validate?.spec?.(pod) ?? []
  if (faults.length === 0) pods.warnings?.(pod, undefined)
  return faults.map(({ field }) => field)
}

interface Change {
  readonly volume?: string
  readonly mounts?: string
  readonly annotations?: Record<string, string>
  readonly spec?: object
}

/** Returns a pod of a template, with a token volume. Each `app` is another template. */
function podOf(
  name: string,
  app: string,
  { volume = 'kube-api-access-bcdfg', mounts = volume, annotations, spec }: Change = {},
): Pod {
  const container = {
    name: 'main',
    image: app,
    volumeMounts: [{ name: mounts, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
  }
  const token = { name: volume, projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'x', annotations },
    spec: { serviceAccountName: 'default', containers: [container], volumes: [token], ...spec },
  }
  podDefaults(pod as unknown as Pod)
  return pod as unknown as Pod
}

test('a pod of a validated template needs no validation, whatever its name and token volume', () => {
  assert.deepEqual(create(podOf('a', 'one')), [])
  assert.ok(isCached(podOf('b', 'one')))
  assert.ok(isCached(podOf('c', 'one', { volume: 'kube-api-access-22222' })))
  assert.deepEqual(create(podOf('d', 'one', { volume: 'kube-api-access-22222' })), [])
})

test('a pod with another spec is validated', () => {
  assert.deepEqual(create(podOf('a', 'two')), [])
  const others: readonly Change[] = [
    { spec: { hostname: 'Not A Name' } },
    { spec: { containers: [] } },
    { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } },
    // A mount of a missing volume with the name of the other pod's token volume.
    { volume: 'kube-api-access-22222', mounts: 'kube-api-access-bcdfg' },
    // Not a generated name.
    { volume: 'kube-api-access-!!!!!' },
    { spec: { volumes: [] } },
  ]
  for (const other of others) assert.equal(isCached(podOf('b', 'two', other)), false, JSON.stringify(other))
  assert.deepEqual(create(podOf('b', 'two', others[3])), ['spec.containers[0].volumeMounts[0].name'])
  assert.deepEqual(create(podOf('b', 'two', others[4])), [
    'spec.volumes[0].name',
    'spec.containers[0].volumeMounts[0].name',
  ])
})

test('pods with errors, warnings or ephemeral volumes are not cached', () => {
  const faulty: Change = { spec: { restartPolicy: 'Sometimes' } }
  const warned: Change = { spec: { terminationGracePeriodSeconds: -1 } }
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
  const named: Change = {
    spec: { volumes: [{ name: 'kube-api-access-bcdfg', ephemeral: { volumeClaimTemplate: claim } }] },
  }
  for (const change of [faulty, warned, named]) {
    create(podOf('a', 'three', change))
    assert.equal(isCached(podOf('b', 'three', change)), false)
  }
})

test('the cache holds the 8 most recent templates', () => {
  const apps = Array.from({ length: 9 }, (_, i) => `app-${i}`)
  for (const app of apps) create(podOf('a', app))
  assert.deepEqual(
    apps.filter((app) => isCached(podOf('b', app))),
    apps.slice(1),
  )
})
