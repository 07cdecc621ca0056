import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, ReplicaSet } from '../../../client/kinds.ts'
import { byRevision, historyAnnotation, newSetAnnotations, revisionAnnotation } from './revisions.ts'

const deployment = (annotations: Record<string, string> = {}): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', annotations },
})
const old = (revision: string): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { annotations: { [revisionAnnotation]: revision } },
})

test('the first set has revision 1 and the annotations of its Deployment', () => {
  const annotations = newSetAnnotations(
    deployment({
      'kubernetes.io/change-cause': 'x',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      [revisionAnnotation]: '7',
    }),
    undefined,
    [],
  )
  assert.deepEqual(annotations, { 'kubernetes.io/change-cause': 'x', [revisionAnnotation]: '1' })
})

test('a reused set gets the next revision and keeps the earlier ones as history', () => {
  const once = newSetAnnotations(deployment(), { [revisionAnnotation]: '1' }, [old('2')])
  assert.deepEqual(once, { [revisionAnnotation]: '3', [historyAnnotation]: '1' })
  assert.deepEqual(newSetAnnotations(deployment(), once, [old('9'), old('10')]), {
    [revisionAnnotation]: '11',
    [historyAnnotation]: '1,3',
  })
})

test('revisions have 64 bits', () => {
  const annotations = newSetAnnotations(deployment(), undefined, [old('3546343826724305832'), old('7')])
  assert.deepEqual(annotations, { [revisionAnnotation]: '3546343826724305833' })
  assert.deepEqual(['3546343826724305833', '3546343826724305832', '7'].map(old).sort(byRevision), [
    old('7'),
    old('3546343826724305832'),
    old('3546343826724305833'),
  ])
})

test('the newest set keeps its revision when older sets are deleted', () => {
  const annotations = { [revisionAnnotation]: '5' }
  assert.deepEqual(newSetAnnotations(deployment(), annotations, [old('2')]), annotations)
})

test('a history that is too long drops the oldest revisions', () => {
  const history = Array.from({ length: 500 }, (_, at) => `${at + 1000}`).join(',')
  const after =
    newSetAnnotations(deployment(), { [revisionAnnotation]: '1500', [historyAnnotation]: history }, [old('1501')])[
      historyAnnotation
    ] ?? ''
  assert.ok(after.length <= 2000)
  assert.match(after, /,1499,1500$/)
})
