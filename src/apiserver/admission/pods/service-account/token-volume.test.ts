import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podOf } from '../pod.fixture.ts'
import { mountToken } from './token-volume.ts'

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'

test('every container gets the token, init containers included', () => {
  const { spec } = podOf({ initContainers: [{ name: 'i' }] })
  mountToken(spec)
  const volume = spec.volumes?.[0]
  assert.match(volume?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/)
  const mount = [{ name: volume?.name, readOnly: true, mountPath }]
  assert.deepEqual([spec.initContainers?.[0]?.volumeMounts, spec.containers[0]?.volumeMounts], [mount, mount])
  assert.equal(volume?.projected?.defaultMode, 420)
  assert.deepEqual(volume?.projected?.sources?.[0], { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } })
})

test('a container keeps its own mount at that path, and an unused volume is not added', () => {
  const { spec } = podOf({ containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath }] }] })
  mountToken(spec)
  assert.equal(spec.volumes, undefined)
})

test('an existing volume with the prefix is mounted, and none is added', () => {
  const { spec } = podOf({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] })
  mountToken(spec)
  assert.equal(spec.volumes?.length, 1)
  assert.equal(spec.containers[0]?.volumeMounts?.[0]?.name, 'kube-api-access-mine')
})
