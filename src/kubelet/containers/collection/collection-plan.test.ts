import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import {
  type Container,
  ContainerSchema,
  ContainerState,
  type PodSandbox,
  PodSandboxSchema,
  PodSandboxState,
} from '#protobuf/cri-runtime_pb.js'
import { containerLabels, identityLabels } from '../../cri/labels.ts'
import type { Pod } from '../../pod-types.ts'
import {
  type ContainerPolicy,
  deadContainersToRemove,
  deadSandboxesToRemove,
  defaultContainerPolicy,
  type Retention,
} from './collection-plan.ts'

const { CONTAINER_RUNNING: running, CONTAINER_EXITED: exited, CONTAINER_CREATED: created } = ContainerState
const now = 1_000_000

const podOf = (uid: string): Pod =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, namespace: 'default', uid } }) as Pod

/** `time` is the time of its creation, in ms. */
const containerOf = (uid: string, name: string, time: number, state: ContainerState = exited): Container =>
  create(ContainerSchema, {
    id: `${uid}-${name}-${time}`,
    podSandboxId: `${uid}-sandbox`,
    state,
    createdAt: BigInt(time) * 1_000_000n,
    labels: containerLabels(podOf(uid), { name }),
  })

const { SANDBOX_READY: ready, SANDBOX_NOTREADY: ended } = PodSandboxState

const sandboxOf = (uid: string, time: number, state: PodSandboxState = ended): PodSandbox =>
  create(PodSandboxSchema, {
    id: `${uid}-${time}`,
    state,
    createdAt: BigInt(time) * 1_000_000n,
    labels: identityLabels(podOf(uid)),
  })

/** Pods are named after what is retained of them. */
const retention = (uid: string): Retention => uid.replace(/\d/, '') as Retention

function removed(all: readonly Container[], policy: Partial<ContainerPolicy> = {}, isUrgent = false): string {
  const plan = deadContainersToRemove(all, { retention, isUrgent }, { ...defaultContainerPolicy, ...policy }, now)
  return plan.map(({ id }) => id).join(' ')
}

const restarted = [1, 2, 3].map((time) => containerOf('live', 'a', time))
const twoPods = [...restarted, ...[4, 5].map((time) => containerOf('live2', 'b', time))]

for (const [title, all, policy, isUrgent, expected] of [
  ['the newest dead container of each name remains', restarted, {}, false, 'live-a-1 live-a-2'],
  ['running containers remain', [containerOf('none', 'a', 1, running)], {}, false, ''],
  ['nothing of a deleted pod remains', [containerOf('none', 'a', 1)], {}, false, 'none-a-1'],
  ['the newest of an ended pod remains', [containerOf('ended', 'a', 1)], {}, false, ''],
  ['nothing of an ended pod remains under pressure', [containerOf('ended', 'a', 1)], {}, true, 'ended-a-1'],
  ['the newest of a live pod remains under pressure', restarted, {}, true, 'live-a-1 live-a-2'],
  ['the newest of a live pod remains with a limit of 0', restarted, { maxPerContainer: 0 }, false, 'live-a-1 live-a-2'],
  ['no limit', restarted, { maxPerContainer: -1 }, false, ''],
  ['young containers remain', restarted, { minAgeMs: now - 1 }, false, ''],
  [
    'a limit of the node is shared',
    twoPods,
    { maxPerContainer: -1, maxContainers: 2 },
    false,
    'live-a-1 live-a-2 live2-b-4',
  ],
  [
    'oldest first above the limit of the node',
    twoPods,
    { maxPerContainer: -1, maxContainers: 3 },
    false,
    'live-a-1 live-a-2 live2-b-4',
  ],
  [
    'a container that is about to start does not replace a dead one',
    [containerOf('live', 'a', 1), containerOf('live', 'a', now - 1, created)],
    {},
    false,
    '',
  ],
] as const)
  test(`dead containers: ${title}`, () => assert.equal(removed(all, policy, isUrgent), expected))

test('containers of other programs are never removed', () => {
  const foreign = create(ContainerSchema, { id: 'x', state: exited, createdAt: 1n, labels: { app: 'other' } })
  assert.equal(removed([foreign]), '')
})

test('ended sandboxes without containers are removed, except the newest of a pod that exists', () => {
  const sandboxes = [
    sandboxOf('live', 1),
    sandboxOf('live', 2),
    sandboxOf('live', 3, ready),
    sandboxOf('ended', 4),
    sandboxOf('none', 5),
    sandboxOf('none', 6, ready),
    sandboxOf('none2', 7),
  ]
  const used = create(ContainerSchema, { id: 'c', podSandboxId: 'live-2' })
  const plan = (isUrgent: boolean) =>
    deadSandboxesToRemove(sandboxes, [used], { retention, isUrgent }).map(({ id }) => id)
  assert.deepEqual(plan(false), ['live-1', 'none-5', 'none2-7'])
  assert.deepEqual(plan(true), ['live-1', 'ended-4', 'none-5', 'none2-7'])
})
