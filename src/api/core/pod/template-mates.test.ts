import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podDefaults } from './defaults/pod-defaults.ts'
import { pods } from './index.ts'
import type { Pod } from './model.ts'
import { isKnownFaultless } from './template-mates.ts'

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

/** A pod of a template, with the volume of its account's token; `app` tells templates apart. */
function made(
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

test('a pod of the same template is known, whatever it and its token volume are called', () => {
  assert.deepEqual(create(made('a', 'one')), [])
  assert.ok(isKnownFaultless(made('b', 'one')))
  assert.ok(isKnownFaultless(made('c', 'one', { volume: 'kube-api-access-22222' })))
  assert.deepEqual(create(made('d', 'one', { volume: 'kube-api-access-22222' })), [])
})

test('another spec is looked through', () => {
  assert.deepEqual(create(made('a', 'two')), [])
  const others: readonly Change[] = [
    { spec: { hostname: 'Not A Name' } },
    { spec: { containers: [] } },
    { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } },
    // A mount of a volume that is not there, called as the other pod's was.
    { volume: 'kube-api-access-22222', mounts: 'kube-api-access-bcdfg' },
    // No name that anybody makes up.
    { volume: 'kube-api-access-!!!!!' },
    { spec: { volumes: [] } },
  ]
  for (const other of others) assert.equal(isKnownFaultless(made('b', 'two', other)), false, JSON.stringify(other))
  assert.deepEqual(create(made('b', 'two', others[3])), ['spec.containers[0].volumeMounts[0].name'])
  assert.deepEqual(create(made('b', 'two', others[4])), [
    'spec.volumes[0].name',
    'spec.containers[0].volumeMounts[0].name',
  ])
})

test('what has faults, or warnings, or depends on its name is not known', () => {
  const faulty: Change = { spec: { restartPolicy: 'Sometimes' } }
  const warned: Change = { spec: { terminationGracePeriodSeconds: -1 } }
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
  const named: Change = {
    spec: { volumes: [{ name: 'kube-api-access-bcdfg', ephemeral: { volumeClaimTemplate: claim } }] },
  }
  for (const change of [faulty, warned, named]) {
    create(made('a', 'three', change))
    assert.equal(isKnownFaultless(made('b', 'three', change)), false)
  }
})

test('several templates are known at a time, and of too many the newest', () => {
  const apps = Array.from({ length: 9 }, (_, i) => `app-${i}`)
  for (const app of apps) create(made('a', app))
  assert.deepEqual(
    apps.filter((app) => isKnownFaultless(made('b', app))),
    apps.slice(1),
  )
})
