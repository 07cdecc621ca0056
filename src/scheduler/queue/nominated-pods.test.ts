import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PodInfo } from '../framework/pods/pod-info.ts'
import { aPod } from '../testing/objects.fixture.ts'
import { NominatedPods } from './nominated-pods.ts'

function nominations(): { nominated: NominatedPods; freed: string[]; pod: PodInfo } {
  const freed: string[] = []
  const nominated = new NominatedPods(({ pod }, node) => freed.push(`${pod.metadata.name} on ${node}`))
  return { nominated, freed, pod: new PodInfo(aPod('p', {}, { uid: 'p' })) }
}

test('a nomination that is cleared, moved, or deleted with its pod frees the node', () => {
  const { nominated, freed, pod } = nominations()
  nominated.set(pod, 'a')
  nominated.set(pod, 'b')
  assert.deepEqual(nominated.podsOn('a'), [])
  assert.deepEqual(nominated.podsOn('b'), [pod])
  nominated.set(pod, '')
  nominated.set(pod, 'c')
  nominated.delete(pod.uid)
  assert.deepEqual(freed, ['p on a', 'p on b', 'p on c'])
  assert.equal(nominated.nodeOf(pod.uid), undefined)
})

test('a pod that stays nominated, or is bound to its nominated node, frees nothing', () => {
  const { nominated, freed, pod } = nominations()
  nominated.set(pod, 'a')
  nominated.set(pod, 'a')
  nominated.delete(pod.uid, 'a')
  nominated.delete(pod.uid)
  assert.deepEqual(freed, [])
})

test('a pod bound elsewhere frees its nominated node', () => {
  const { nominated, freed, pod } = nominations()
  nominated.set(pod, 'a')
  nominated.delete(pod.uid, 'b')
  assert.deepEqual(freed, ['p on a'])
})
