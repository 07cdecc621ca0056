import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { type ContainerStatus, ContainerStatusSchema } from '#protobuf/cri-runtime_pb.js'
import type { Container, Pod } from '../pod-types.ts'
import { VirtualTime } from '../pods/model/virtual-time.fixture.ts'
import { PodEvents } from './container-events.ts'
import { stopContainers } from './stop-container.ts'

const named = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'image', ...more })
const sidecar = (name: string): Container => named(name, { restartPolicy: 'Always' })

const podOf = (containers: Container[], initContainers: Container[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers, initContainers },
})

const running = (...names: string[]): ContainerStatus[] =>
  names.map((name) =>
    create(ContainerStatusSchema, { id: `id-${name}`, labels: { 'io.kubernetes.container.name': name } }),
  )

/** Stops a pod in virtual time; returns a line for each event, hook and stop, with the second in which it happened. */
async function stopped(
  pod: Pod,
  graceSeconds: number,
  options: { readonly hookSeconds?: Record<string, number>; readonly endSeconds?: Record<string, number> } = {},
): Promise<readonly string[]> {
  const { hookSeconds = {}, endSeconds = {} } = options
  const time = new VirtualTime()
  const lines: string[] = []
  const began = time.now()
  const note = (line: string): void => void lines.push(`${(time.now() - began) / 1000} ${line}`)
  const stopper = {
    runtime: {
      async stopContainer(id: string, seconds: number): Promise<void> {
        note(`stop ${id} ${seconds}`)
        const endsAfter = endSeconds[id.slice('id-'.length)] ?? 0
        if (endsAfter === Number.POSITIVE_INFINITY) throw new Error('the runtime is busy')
        await time.sleep(Math.min(endsAfter, seconds) * 1000)
      },
    },
    hooks: {
      async preStop(_: Pod, { name }: Container, _id: string, seconds: number): Promise<void> {
        const ownSeconds = hookSeconds[name]
        if (ownSeconds === undefined) return
        note(`hook ${name} ${seconds}`)
        await time.sleep(Math.min(ownSeconds, seconds) * 1000)
      },
    },
    events: new PodEvents({ record: (_, _type, reason, message) => note(`${reason} ${message}`) }, 'n1'),
    now: time.now,
    delay: (ms: number) => time.sleep(ms),
  }
  const { containers = [], initContainers = [] } = pod.spec ?? {}
  const names = [...containers, ...initContainers].map(({ name }) => name)
  const ended = stopContainers(stopper, pod, running(...names), graceSeconds).catch((error: Error) =>
    note(error.message),
  )
  await time.pass(100_000)
  await ended
  return lines.filter((line) => !line.includes('Killing'))
}

test('hooks of all containers begin immediately; sidecars end after main containers, the last one first', async () => {
  const pod = podOf([named('main')], [sidecar('first'), sidecar('second')])
  assert.deepEqual(
    await stopped(pod, 30, { hookSeconds: { main: 3, first: 1, second: 9 }, endSeconds: { main: 4, second: 2 } }),
    [
      '0 hook main 30',
      '0 hook second 30',
      '0 hook first 30',
      '3 stop id-main 27',
      '9 stop id-second 21',
      '11 stop id-first 19',
    ],
  )
})

test('a sidecar waits no longer than the grace period, and has two seconds then', async () => {
  const pod = podOf([named('main')], [sidecar('proxy')])
  assert.deepEqual(await stopped(pod, 5, { endSeconds: { main: 60 } }), ['0 stop id-main 5', '5 stop id-proxy 2'])
})

test('a sidecar waits for a main container that could not be stopped', async () => {
  const pod = podOf([named('main')], [sidecar('proxy')])
  assert.deepEqual(await stopped(pod, 5, { endSeconds: { main: Number.POSITIVE_INFINITY } }), [
    '0 stop id-main 5',
    '0 the runtime is busy',
    '5 stop id-proxy 2',
  ])
})

test('a container has two seconds to end, even if its pod has none or its hook has spent them', async () => {
  assert.deepEqual(await stopped(podOf([named('main')]), 0, { hookSeconds: { main: 1 } }), ['0 stop id-main 2'])
  assert.deepEqual(await stopped(podOf([named('main')]), 1), ['0 stop id-main 2'])
  assert.deepEqual(await stopped(podOf([named('main')]), 9, { hookSeconds: { main: 20 } }), [
    '0 hook main 9',
    '9 stop id-main 2',
  ])
})
