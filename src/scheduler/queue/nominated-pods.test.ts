import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PodInfo } from '../framework/pods/pod-info.ts'
import { aPod } from '../testing/objects.ts'
import { NominatedPods } from './nominated-pods.ts'

function nominations(): { nominated: NominatedPods; freed: string[]; pod: PodInfo } {
  const freed: string[] = []
  const nominated = new NominatedPods(({ pod }, node) => freed.push(`${pod.metadata.name} on ${node}`))
  return { nominated, freed, pod: new PodInfo(aPod('p', {}, { uid: 'p' })) }
}

test('a nomination that is taken away, moves, or belongs to a pod that goes frees its node', () => {
  const { nominated, freed, pod } = nominations()
  nominated.set(pod, 'a')
  nominated.set(pod, 'b')
  assert.deepEqual(nominated.on('a'), [])
  assert.deepEqual(nominated.on('b'), [pod])
  nominated.set(pod, '')
  nominated.set(pod, 'c')
  nominated.delete(pod.uid)
  assert.deepEqual(freed, ['p on a', 'p on b', 'p on c'])
  assert.equal(nominated.nodeOf(pod.uid), undefined)
})

test('a pod that stays nominated, or goes where it was nominated, frees nothing', () => {
  const { nominated, freed, pod } = nominations()
  nominated.set(pod, 'a')
  nominated.set(pod, 'a')
  nominated.delete(pod.uid, 'a')
  nominated.delete(pod.uid)
  assert.deepEqual(freed, [])
})

test('a pod that is placed elsewhere frees the node that it was nominated for', () => {
  const { nominated, freed, pod } = nominations()
  nominated.set(pod, 'a')
  nominated.delete(pod.uid, 'b')
  assert.deepEqual(freed, ['p on a'])
})
