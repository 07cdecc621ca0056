import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerState, type ContainerStatus, ContainerStatusSchema } from '#protobuf/cri-runtime_pb.js'
import { containerLabels } from '../cri/labels.ts'
import type { Pod, PodStatus } from '../pod-types.ts'
import { podStatus } from './pod-status.ts'

const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }
const rules = { restartPolicy: 'Never', restartPolicyRules: [rule] }
const { CONTAINER_RUNNING: running, CONTAINER_EXITED: exited } = ContainerState

const podOf = (names: readonly string[], initNames: readonly string[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: {
    restartPolicy: 'Never',
    initContainers: initNames.map((name) => ({ name, ...rules })),
    containers: names.map((name) => ({ name, ...rules })),
  },
})

const instance = (pod: Pod, name: string, state: ContainerState, exitCode: number, id = name): ContainerStatus =>
  create(ContainerStatusSchema, { id, state, exitCode, labels: containerLabels(pod, { name }) })

function statusOf(pod: Pod, before: PodStatus, containers: readonly ContainerStatus[], now = '01'): PodStatus {
  return podStatus(
    { ...pod, status: before },
    {
      runtimePod: { identity: { uid: 'u', name: 'web', namespace: 'default' }, sandboxes: [], containers, ips: [] },
      waiting: new Map(),
      probes: { isAlive: () => true, isStarted: () => true, isReady: () => true },
      hostIps: ['10.0.0.1'],
      runtimeName: 'containerd',
      messageOf: () => undefined,
      actual: undefined,
      cgroup: undefined,
      resizeConditions: [],
      now: Date.parse(`2026-01-${now}T00:00:00Z`),
    },
  )
}

const conditionOf = ({ conditions = [] }: PodStatus) =>
  conditions.find(({ type }) => type === 'AllContainersRestarting')

test('while all containers restart, the status shows it, and counts each container once', () => {
  const pod = podOf(['source', 'worker'])
  const first = statusOf(pod, {}, [instance(pod, 'source', running, 0), instance(pod, 'worker', running, 0)])
  const never = { lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' }
  assert.deepEqual(conditionOf(first), { type: 'AllContainersRestarting', status: 'False', ...never })

  const ended = [instance(pod, 'source', exited, 42), instance(pod, 'worker', running, 0)]
  const begun = statusOf(pod, first, ended, '02')
  assert.equal(begun.phase, 'Running')
  assert.deepEqual(conditionOf(begun), {
    type: 'AllContainersRestarting',
    status: 'True',
    reason: 'RestartAllContainersStarted',
    message: 'container exited with restart policy rule',
    ...never,
    lastTransitionTime: '2026-01-02T00:00:00Z',
  })

  // The worker is removed first.
  const half = statusOf(pod, begun, [ended[0]!], '03')
  assert.equal(conditionOf(half)?.lastTransitionTime, '2026-01-02T00:00:00Z')
  const reset = statusOf(pod, half, [], '04')
  assert.equal(reset.phase, 'Running')
  assert.equal(conditionOf(reset)?.status, 'False')
  const removed = {
    reason: 'RestartingAllContainers',
    message: 'The container is removed because RestartAllContainers in place',
  }
  const find = ({ containerStatuses = [] }: PodStatus, name: string) =>
    containerStatuses.find((one) => one.name === name)
  assert.deepEqual(find(half, 'worker')?.state, { waiting: removed })
  assert.deepEqual(find(reset, 'source')?.state, { waiting: removed })
  for (const { lastState, restartCount } of reset.containerStatuses ?? []) {
    assert.deepEqual(lastState, { terminated: { ...removed, exitCode: 137 } })
    assert.equal(restartCount, 1)
  }

  // The runtime knows of no earlier start.
  const again = statusOf(pod, reset, [
    instance(pod, 'source', running, 0, 'b'),
    instance(pod, 'worker', running, 0, 'c'),
  ])
  assert.deepEqual(
    again.containerStatuses?.map((one) => [one.restartCount, one.lastState?.terminated?.reason]),
    [
      [1, 'RestartingAllContainers'],
      [1, 'RestartingAllContainers'],
    ],
  )
})

test('an init container that restarts all leaves its pod pending, another failure ends it', () => {
  const pod = podOf(['main'], ['init'])
  const failed = (exitCode: number) => statusOf(pod, {}, [instance(pod, 'init', exited, exitCode)])
  assert.equal(failed(42).phase, 'Pending')
  assert.equal(conditionOf(failed(42))?.status, 'True')
  assert.equal(failed(1).phase, 'Failed')
  assert.deepEqual([conditionOf(failed(1))?.status, conditionOf(failed(1))?.reason], ['False', 'PodFailed'])
})

test('pods without such a rule have no such condition', () => {
  const pod = podOf(['main'])
  const plain: Pod = { ...pod, spec: { containers: [{ name: 'main' }] } }
  assert.equal(conditionOf(statusOf(plain, {}, [instance(plain, 'main', exited, 42)])), undefined)
})
