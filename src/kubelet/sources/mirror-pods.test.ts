import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { DesiredPods } from './desired-pods.ts'
import { MirrorPods } from './mirror-pods.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const staticPod = (hash: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-n1',
    namespace: 'default',
    uid: hash,
    annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': hash },
  },
  spec: { containers: [] },
})

const mirrorOf = (hash: string, metadata: Partial<Pod['metadata']> = {}): Pod => {
  const pod = staticPod(hash)
  const annotations = { ...pod.metadata.annotations, 'kubernetes.io/config.mirror': hash }
  return { ...pod, metadata: { ...pod.metadata, uid: `mirror-${hash}`, annotations, ...metadata } }
}

function setUp({ failure }: { failure?: Error } = {}) {
  const calls: string[] = []
  const logged: string[] = []
  const timers: (() => void)[] = []
  const state = { hasNode: true, isRunning: false, failure }
  const desired = new DesiredPods()
  const mirrors = new MirrorPods({
    client: {
      async create(_resource: unknown, { metadata }: Pod) {
        calls.push(
          `create ${metadata.annotations?.['kubernetes.io/config.mirror']} of ${metadata.ownerReferences?.[0]?.uid}`,
        )
        if (state.failure) throw state.failure
      },
      async delete(_resource: unknown, _namespace: string, _name: string, options: { uid?: string }) {
        calls.push(`delete ${options.uid}`)
      },
    } as unknown as ConstructorParameters<typeof MirrorPods>[0]['client'],
    desired,
    node: () =>
      state.hasNode ? { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'node-uid' } } : undefined,
    isRunning: () => state.isRunning,
    log: (line) => void logged.push(line),
    schedule: (callback) => {
      timers.push(callback)
      return () => {}
    },
  })
  desired.onMirror((key) => mirrors.reconcile(key))
  return { calls, logged, timers, state, desired, mirrors }
}

test('a mirror pod is created once the API is known, and owned by the node', async () => {
  const { calls, desired, mirrors } = setUp()
  desired.setStatic('file', [staticPod('a')])
  await settled()
  assert.deepEqual(calls, [])
  mirrors.start(['default/web-n1'])
  await settled()
  assert.deepEqual(calls, ['create a of node-uid'])
  desired.setOfApi(mirrorOf('a'), undefined)
  await settled()
  assert.equal(calls.length, 1)
})

test('an outdated mirror pod is deleted by its UID, then created', async () => {
  const { calls, desired, mirrors } = setUp()
  mirrors.start([])
  desired.setOfApi(mirrorOf('old'), undefined)
  desired.setStatic('file', [staticPod('new')])
  await settled()
  await settled()
  assert.equal(calls[0], 'delete mirror-old')
  assert.ok(!calls.includes('create new of node-uid'))
  desired.setOfApi(undefined, mirrorOf('old'))
  await settled()
  assert.equal(calls.at(-1), 'create new of node-uid')
})

test('a mirror pod that a user deletes is removed without its grace period', async () => {
  const { calls, desired, mirrors } = setUp()
  mirrors.start([])
  desired.setOfApi(mirrorOf('a', { deletionTimestamp: '2026-01-01T00:00:00Z' }), undefined)
  desired.setStatic('file', [staticPod('a')])
  await settled()
  assert.equal(calls[0], 'delete mirror-a')
})

test('a mirror pod without a static pod is deleted when nothing of it runs', async () => {
  const { calls, state, desired, mirrors } = setUp()
  state.isRunning = true
  mirrors.start([])
  desired.setOfApi(mirrorOf('a'), undefined)
  await settled()
  assert.deepEqual(calls, [])
  state.isRunning = false
  mirrors.reconcile('default/web-n1')
  await settled()
  assert.deepEqual(calls, ['delete mirror-a'])
})

test('creation waits for the node, and is repeated after a failure', async () => {
  const failure = new Error('the server is down')
  const { calls, logged, timers, state, desired, mirrors } = setUp({ failure })
  state.hasNode = false
  mirrors.start([])
  desired.setStatic('file', [staticPod('a')])
  await settled()
  assert.deepEqual(calls, [])
  state.hasNode = true
  timers.at(-1)?.()
  await settled()
  assert.equal(calls.length, 1)
  assert.match(logged[0] ?? '', /^cannot write the mirror pod default\/web-n1: /)
  state.failure = undefined
  timers.at(-1)?.()
  await settled()
  assert.equal(calls.length, 2)
})
