import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import {
  ContainerState,
  type ContainerStatus,
  ContainerStatusSchema,
  PodSandboxState,
  PodSandboxStatusSchema,
} from '#protobuf/cri-runtime_pb.js'
import type { Container, Pod, PodStatus } from '../../pod-types.ts'
import { planPod } from './plan.ts'
import { shouldRestartAll } from './restart-of-all.ts'

const { CONTAINER_RUNNING: running, CONTAINER_EXITED: exited, CONTAINER_CREATED: created } = ContainerState
const rule = (action: string, ...values: number[]) => ({ action, exitCodes: { operator: 'In', values } })
const restartsAll = { restartPolicy: 'Never', restartPolicyRules: [rule('RestartAllContainers', 42)] }
const named = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'image', ...more })

const podOf = (status: PodStatus = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', uid: 'u' },
  spec: {
    restartPolicy: 'Never',
    initContainers: [named('init', restartsAll), named('proxy', { restartPolicy: 'Always' })],
    containers: [named('source', restartsAll), named('worker')],
    ephemeralContainers: [{ name: 'debug' }],
  },
  status,
})

/** A container with the ID `NAME-NUMBER`, of which the newest come first. */
const instance = (id: string, state: ContainerState, exitCode = 0): ContainerStatus =>
  create(ContainerStatusSchema, {
    id,
    state,
    exitCode,
    labels: { 'io.kubernetes.container.name': id.split('-')[0]! },
  })

const runtimePod = (
  containers: readonly ContainerStatus[],
  state: PodSandboxState = PodSandboxState.SANDBOX_READY,
) => ({
  identity: { uid: 'u', name: 'web', namespace: 'default' },
  sandboxes: [create(PodSandboxStatusSchema, { id: 's', state })],
  containers,
  ips: ['10.0.0.1'],
})

const probes = { isAlive: () => true, isStarted: () => true }
const restarting = { conditions: [{ type: 'AllContainersRestarting', status: 'True' }] }

const exits = [
  instance('source-1', exited, 42),
  instance('worker-1', running),
  instance('source-0', exited, 42),
  instance('proxy-0', created),
  instance('init-0', exited, 0),
  instance('debug-0', running),
]

test('containers are removed in reverse, those that caused the restart last, and debugging ones never', () => {
  const plan = planPod(podOf(), runtimePod(exits), { probes, isRestartingAll: true })
  assert.deepEqual(
    plan.remove.map(({ id, isKilled }) => `${id}${isKilled ? ' killed' : ''}`),
    ['worker-1 killed', 'init-0', 'proxy-0 killed', 'source-1', 'source-0'],
  )
  assert.deepEqual([plan.killPod, plan.stop, plan.startInit, plan.startMain], [false, [], [], []])
})

test('without containers, the pod starts with its first init container in the same sandbox', () => {
  const plan = planPod(podOf(), runtimePod([instance('debug-0', running)]), { probes, isRestartingAll: true })
  assert.deepEqual(
    [plan.remove, plan.createSandbox, plan.startInit.map(({ name }) => name), plan.startMain],
    [[], false, ['init'], []],
  )
})

test('a sandbox that has ended is replaced before, and nothing starts in it', () => {
  const ended = runtimePod(exits, PodSandboxState.SANDBOX_NOTREADY)
  const plan = planPod(podOf(), ended, { probes, isRestartingAll: true })
  assert.deepEqual([plan.killPod, plan.createSandbox, plan.attempt, plan.remove], [true, true, 1, []])
  assert.deepEqual([plan.startInit, plan.startMain], [[], []])
})

test('an exit code of a rule in the runtime or in the last status starts it, and its condition continues it', () => {
  assert.equal(shouldRestartAll(podOf(), runtimePod(exits)), true)
  const other = [instance('source-1', exited, 41), instance('source-0', exited, 42)]
  assert.equal(shouldRestartAll(podOf(), runtimePod(other)), false)
  assert.equal(shouldRestartAll(podOf(restarting), runtimePod(other)), true)
  const terminated = { exitCode: 42, finishedAt: null as never, startedAt: null as never }
  const status = { name: 'init', state: { terminated }, ready: false, restartCount: 0, image: '', imageID: '' }
  assert.equal(shouldRestartAll(podOf({ initContainerStatuses: [status] }), runtimePod([])), true)
})

test('the first rule that matches an exit code counts', () => {
  const pod = podOf()
  const rules = [rule('Restart', 42), rule('RestartAllContainers', 42, 43)]
  const source = named('source', { restartPolicy: 'Never', restartPolicyRules: rules })
  const changed: Pod = { ...pod, spec: { ...pod.spec, containers: [source] } }
  assert.equal(shouldRestartAll(changed, runtimePod([instance('source-0', exited, 42)])), false)
  assert.equal(shouldRestartAll(changed, runtimePod([instance('source-0', exited, 43)])), true)
})
