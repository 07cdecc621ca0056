import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../../../client/kinds.ts'
import { claimOf, volumeOf } from '../binder.fixture.ts'
import { planClaim } from './claim-plan.ts'
import { finalizersFor, planVolume } from './volume-plan.ts'

const classOf = (name: string, more: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  provisioner: 'example.com/p',
  ...more,
  metadata: { name, ...more.metadata },
})
const usual = { 'storageclass.kubernetes.io/is-default-class': 'true' }
const waiting = classOf('waiting', { volumeBindingMode: 'WaitForFirstConsumer' })

/** The step for a claim and the reason of its event, such as `wait FailedBinding`. */
function stepOf(
  claim: PersistentVolumeClaim,
  volumes: PersistentVolume[] = [],
  classes: StorageClass[] = [],
  pods: string[] = [],
): string {
  const plan = planClaim(claim, {
    volume: (name) => volumes.find(({ metadata }) => metadata.name === name),
    candidates: () => volumes,
    storageClass: (name) => classes.find(({ metadata }) => metadata.name === name),
    storageClasses: () => classes,
    waitingPods: () => pods,
  })
  const detail =
    'event' in plan
      ? plan.event?.reason
      : 'volume' in plan
        ? plan.volume.metadata.name
        : 'className' in plan
          ? plan.className
          : undefined
  return detail ? `${plan.step} ${detail}` : plan.step
}

const completed = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }
const ref = (name: string, uid?: string) => ({ namespace: 'ns', name, uid })

test('a claim without a volume is bound, provisioned, or waits', () => {
  assert.equal(stepOf(claimOf('c'), [volumeOf('v')]), 'bind v')
  assert.equal(stepOf(claimOf('c')), 'wait FailedBinding')
  assert.equal(stepOf(claimOf('c', { storageClassName: 'fast' })), 'provision fast')
  assert.equal(stepOf(claimOf('c', {}, { deletionTimestamp: 'now' })), 'nothing')
})

test('a claim without a class gets the newest default class, one with an empty class does not', () => {
  const old = classOf('old', { metadata: { annotations: usual, creationTimestamp: '2020-01-01T00:00:00Z' } })
  const young = classOf('young', { metadata: { annotations: usual, creationTimestamp: '2021-01-01T00:00:00Z' } })
  assert.equal(stepOf(claimOf('c'), [], [old, young, classOf('other')]), 'name class young')
  assert.equal(stepOf(claimOf('c', { storageClassName: '' }), [], [old]), 'wait FailedBinding')
  assert.equal(stepOf(claimOf('c'), [volumeOf('v')], [old]), 'bind v')
})

test('with WaitForFirstConsumer a claim waits until the scheduler selects a node', () => {
  const claim = claimOf('c', { storageClassName: 'waiting' })
  const free = volumeOf('v', { storageClassName: 'waiting' })
  assert.equal(stepOf(claim, [free], [waiting]), 'wait WaitForFirstConsumer')
  assert.equal(stepOf(claim, [free], [waiting], ['p']), 'wait WaitForPodScheduled')
  const chosen = claimOf(
    'c',
    { storageClassName: 'waiting' },
    { annotations: { 'volume.kubernetes.io/selected-node': 'n' } },
  )
  assert.equal(stepOf(chosen, [], [waiting]), 'provision waiting')
})

test('a claim that names its volume binds to no other', () => {
  const claim = claimOf('c', { volumeName: 'v' })
  assert.equal(stepOf(claim), 'wait')
  assert.equal(stepOf(claim, [volumeOf('v'), volumeOf('a')]), 'bind v')
  assert.equal(stepOf(claim, [volumeOf('v', { claimRef: ref('c') })]), 'bind v')
  assert.equal(stepOf(claim, [volumeOf('v', { claimRef: ref('other') })]), 'wait FailedBinding')
  assert.equal(stepOf(claim, [volumeOf('v', { capacity: { storage: '1Mi' } })]), 'wait VolumeMismatch')
})

test('a bound claim is repaired or lost', () => {
  const claim = claimOf('c', { volumeName: 'v' }, completed)
  assert.equal(stepOf(claim, [volumeOf('v', { claimRef: ref('c', 'uid-of-c') })]), 'bind v')
  assert.equal(stepOf(claim, [volumeOf('v')]), 'bind v')
  assert.equal(stepOf(claim), 'lose ClaimLost')
  assert.equal(stepOf(claimOf('c', {}, completed)), 'lose ClaimLost')
  assert.equal(stepOf(claim, [volumeOf('v', { claimRef: ref('other', 'x') })]), 'lose ClaimMisbound')
})

test('planVolume derives the step from the claim', () => {
  const mine = ref('c', 'uid-of-c')
  const step = (volume: PersistentVolume, claim?: PersistentVolumeClaim): string =>
    Object.values(planVolume(volume, claim))
      .slice(0, 2)
      .filter((part) => typeof part === 'string')
      .join(' ')
  assert.equal(step(volumeOf('v')), 'phase Available')
  assert.equal(step(volumeOf('v', { claimRef: ref('c') }), claimOf('c')), 'phase Available')
  assert.equal(step(volumeOf('v', { claimRef: mine }), claimOf('c', { volumeName: 'v' })), 'phase Bound')
  assert.equal(step(volumeOf('v', { claimRef: mine })), 'release')
  assert.equal(step(volumeOf('v', { claimRef: ref('c', 'previous') }), claimOf('c')), 'release')
  assert.equal(step(volumeOf('v', { claimRef: mine }), claimOf('c')), 'reconcile claim')
  assert.equal(
    step(volumeOf('v', { claimRef: mine }, { metadata: { deletionTimestamp: 'now' } }), claimOf('c')),
    'unbind',
  )
  assert.equal(step(volumeOf('v', { claimRef: mine, volumeMode: 'Block' }), claimOf('c')), 'mismatch')
  assert.equal(step(volumeOf('v', { claimRef: mine }), claimOf('c', { volumeName: 'other' })), 'unbind')
  const made = volumeOf(
    'v',
    { claimRef: mine, persistentVolumeReclaimPolicy: 'Delete' },
    { metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'x' } } },
  )
  assert.equal(step(made, claimOf('c', { volumeName: 'other' })), 'release')
})

test('a volume provisioned here has the finalizer while its policy is Delete', () => {
  const made = { annotations: { 'pv.kubernetes.io/provisioned-by': 'kubernetes.io/host-path' } }
  const held = { ...made, finalizers: ['other', 'kubernetes.io/pv-controller'] }
  assert.deepEqual(finalizersFor(volumeOf('v', { persistentVolumeReclaimPolicy: 'Delete' }, { metadata: made })), [
    'kubernetes.io/pv-controller',
  ])
  assert.deepEqual(finalizersFor(volumeOf('v', {}, { metadata: held })), ['other'])
  assert.equal(finalizersFor(volumeOf('v', {}, { metadata: made })), undefined)
  assert.equal(finalizersFor(volumeOf('v', { persistentVolumeReclaimPolicy: 'Delete' })), undefined)
})
