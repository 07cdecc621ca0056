import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { ContainerState, ContainerStatusSchema, PodSandboxStatusSchema } from '#protobuf/cri-runtime_pb.js'
import type { Container, Pod } from '../../pod-types.ts'
import { planPod } from './plan.ts'

const named = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'image', ...more })

/** The plan for a pod whose containers run: `dead` has failed its liveness probe, `unstarted` its startup probe. */
function planOf(
  spec: Partial<NonNullable<Pod['spec']>> & { readonly containers: readonly Container[] },
  { dead = '', unstarted = '' },
) {
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', uid: 'u' }, spec }
  const containers = [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) =>
    create(ContainerStatusSchema, {
      id: name,
      state: ContainerState.CONTAINER_RUNNING,
      labels: { 'io.kubernetes.container.name': name },
    }),
  )
  const identity = { uid: 'u', name: 'web', namespace: 'default' }
  const sandboxes = [create(PodSandboxStatusSchema, { id: 's' })]
  const probes = {
    isAlive: (id: string) => id !== dead && id !== unstarted,
    isStarted: (id: string) => id !== unstarted,
  }
  const plan = planPod(pod, { identity, sandboxes, containers, ips: ['10.0.0.1'] }, { probes })
  return { ...plan, messages: plan.stop.map(({ message }) => message), starts: plan.startMain.map(({ name }) => name) }
}

test('a container that fails its liveness probe restarts', () => {
  const { killPod, messages, starts } = planOf({ containers: [named('a'), named('b')] }, { dead: 'a' })
  assert.deepEqual(
    [killPod, messages, starts],
    [false, ['Container a failed liveness probe, will be restarted'], ['a']],
  )
})

test('a sidecar that fails a probe restarts, and is named an init container', () => {
  const initContainers = [named('proxy', { restartPolicy: 'Always' })]
  const spec = { restartPolicy: 'Never', initContainers, containers: [named('main')] }
  const { messages, startInit } = planOf(spec, { dead: 'proxy' })
  assert.deepEqual([messages, startInit], [['Init container proxy failed liveness probe'], initContainers])
  assert.deepEqual(planOf(spec, { unstarted: 'proxy' }).messages, ['Init container proxy failed startup probe'])
})

test('a container that must not restart ends alone, and the last one ends its pod', () => {
  const both = planOf({ restartPolicy: 'Never', containers: [named('a'), named('b')] }, { dead: 'a' })
  assert.deepEqual([both.killPod, both.messages, both.starts], [false, ['Container a failed liveness probe'], []])
  const last = planOf({ restartPolicy: 'Never', containers: [named('a')] }, { dead: 'a' })
  assert.deepEqual([last.killPod, last.messages], [true, []])
})
