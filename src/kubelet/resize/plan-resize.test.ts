import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodResources, Requirements } from '../allocation/pod-resources.ts'
import type { Container, Pod } from '../pod-types.ts'
import { ResizePlan } from './plan-resize.ts'

const container = (name: string, resources: Requirements, more: Partial<Container> = {}): Container => ({
  name,
  resources,
  ...more,
})

const podOf = (containers: Container[], resources?: Requirements): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', uid: 'u' },
  spec: { containers, ...(resources && { resources }) },
})

function planOf(pod: Pod, actual: PodResources | undefined) {
  const plan = new ResizePlan(pod, actual)
  const restarted = pod.spec!.containers.filter((one) => plan.add(one, `id-${one.name}`)).map(({ name }) => name)
  const names = (list: readonly { readonly container: Container }[] = []) => list.map((one) => one.container.name)
  const { resize } = plan
  return { resize, restarted, memory: names(resize?.memory), cpu: names(resize?.cpu) }
}

test('equal resources need no resize, however they are written', () => {
  const pod = podOf([container('a', { requests: { cpu: '1', memory: '1Gi' } })])
  const actual = { containers: { a: { requests: { cpu: '1000m', memory: '1024Mi' } } } }
  assert.equal(planOf(pod, actual).resize, undefined)
  assert.equal(planOf(pod, undefined).resize, undefined)
})

test('containers that get less come before those that get more', () => {
  const pod = podOf([
    container('more', { requests: { cpu: '2' }, limits: { memory: '2Gi' } }),
    container('less', { requests: { cpu: '1' }, limits: { memory: '1Gi' } }),
  ])
  const actual = {
    containers: {
      more: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
      less: { requests: { cpu: '1' }, limits: { memory: '2Gi' } },
    },
  }
  const { memory, cpu, restarted } = planOf(pod, actual)
  assert.deepEqual([memory, cpu, restarted], [['less', 'more'], ['more'], []])
})

test('a policy restarts its container for its resource only', () => {
  const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }]
  const actual = { containers: { a: { requests: { cpu: '1', memory: '1Gi' } } } }
  const more = { resizePolicy }
  const cpu = planOf(podOf([container('a', { requests: { cpu: '2', memory: '1Gi' } }, more)]), actual)
  assert.deepEqual([cpu.restarted, cpu.cpu], [[], ['a']])
  const memory = planOf(podOf([container('a', { requests: { cpu: '1', memory: '2Gi' } }, more)]), actual)
  assert.deepEqual([memory.restarted, memory.memory, memory.resize?.hasRestart], [['a'], [], true])
})

test('containers without limits follow those of their pod', () => {
  const pod = podOf([container('a', {}), container('b', { limits: { cpu: '1' } })], { limits: { cpu: '4' } })
  const actual = {
    containers: { a: { limits: { cpu: '2' } }, b: { limits: { cpu: '1' } } },
    pod: { limits: { cpu: '2' } },
  }
  const { cpu, resize } = planOf(pod, actual)
  assert.deepEqual([cpu, resize?.isOfPod], [['a'], true])
})
