import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerState, ContainerStatusSchema } from '#protobuf/cri-runtime_pb.js'
import { containerLabels } from '../cri/labels.ts'
import type { Pod, PodStatus } from '../pod-types.ts'
import type { TerminationStatus } from '../workers/pod-worker.ts'
import { podStatus } from './pod-status.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

const podOf = (status: PodStatus, containers: readonly string[] = ['c']): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u', generation: 2 },
  spec: { restartPolicy: 'Always', containers: containers.map((name) => ({ name })) },
  status,
})

interface Facts {
  readonly state?: ContainerState
  readonly message?: string
  readonly end?: TerminationStatus
}

/** The status of a pod whose containers are all in one state; without a state the runtime has none. */
function statusOf(pod: Pod, { state, message, end }: Facts): PodStatus {
  const identity = { uid: 'u', name: 'web', namespace: 'default' }
  const containers = (pod.spec?.containers ?? []).map(({ name }) =>
    create(ContainerStatusSchema, { id: name, state, labels: containerLabels(pod, { name }) }),
  )
  return podStatus(pod, {
    runtimePod: { identity, sandboxes: [], containers: state === undefined ? [] : containers, ips: [] },
    waiting: new Map(),
    probes: { isAlive: () => true, isStarted: () => true, isReady: () => true },
    hostIps: ['10.0.0.1'],
    runtimeName: 'containerd',
    messageOf: () => message,
    ...(end && { termination: { graceSeconds: 1, status: end } }),
    actual: undefined,
    cgroup: undefined,
    resizeConditions: [],
    now,
  })
}

const { CONTAINER_RUNNING: running, CONTAINER_EXITED: exited } = ContainerState
const evicted = { reason: 'Evicted', message: 'The node was low on resource: memory. ', isDisruption: true }

test('an evicted pod fails when its last container has ended, with the condition of a disruption', () => {
  const pod = podOf({ phase: 'Running' })
  const before = statusOf(pod, { state: running, end: evicted })
  assert.deepEqual([before.phase, before.reason, before.message], ['Running', undefined, undefined])
  const disruptions = ({ conditions = [] }: PodStatus) => conditions.filter(({ type }) => type === 'DisruptionTarget')
  assert.deepEqual(disruptions(before), [])
  const after = statusOf(pod, { state: exited, end: evicted })
  assert.deepEqual([after.phase, after.reason, after.message], ['Failed', 'Evicted', evicted.message])
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message: evicted.message,
    lastProbeTime: null,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 2,
  }
  assert.deepEqual(disruptions(after), [condition])
  assert.deepEqual(disruptions(statusOf({ ...pod, status: after }, { state: exited, end: evicted })), [condition])
})

test('an eviction for a limit of the pod itself is no disruption', () => {
  const end = { reason: 'Evicted', message: 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ' }
  const { phase, conditions = [] } = statusOf(podOf({ phase: 'Running' }), { state: exited, end })
  assert.equal(phase, 'Failed')
  assert.ok(conditions.every(({ type }) => type !== 'DisruptionTarget'))
})

test('the containers of a pod share 12 KiB of termination messages', () => {
  const names = ['a', 'b', 'c', 'd']
  const { containerStatuses = [] } = statusOf(podOf({ phase: 'Running' }, names), {
    state: exited,
    message: 'é'.repeat(2048),
  })
  const lengths = containerStatuses.map(({ state }) => Buffer.byteLength(state?.terminated?.message ?? ''))
  assert.deepEqual(lengths, [3072, 3072, 3072, 3072])
})

test('containers of a failed pod stay terminated when the runtime has removed them', () => {
  const terminated = { exitCode: 1, reason: 'Error' } as never
  const before: PodStatus = {
    phase: 'Failed',
    containerStatuses: [{ name: 'c', state: { terminated }, ready: false, restartCount: 0, image: '', imageID: '' }],
  }
  assert.deepEqual(statusOf(podOf(before), {}).containerStatuses?.[0]?.state, { terminated })
})
