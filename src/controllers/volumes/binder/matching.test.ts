import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestVolume, mismatch } from '../../../api/core/storage/binding/matching.ts'
import type { PersistentVolume } from '../../../client/kinds.ts'
import { claimOf, volumeOf } from './binder-fixture.ts'

const sized = (name: string, storage: string, accessModes = ['ReadWriteOnce']): PersistentVolume =>
  volumeOf(name, { capacity: { storage }, accessModes })
const asking = (storage: string) => claimOf('c', { resources: { requests: { storage } } })
const keptFor = { namespace: 'ns', name: 'c' }

const choices: readonly (readonly [
  what: string,
  claim: ReturnType<typeof claimOf>,
  volumes: PersistentVolume[],
  expected: string | undefined,
])[] = [
  [
    'the smallest that is large enough',
    asking('2Gi'),
    [sized('a', '10Gi'), sized('b', '1Gi'), sized('c', '2500Mi')],
    'c',
  ],
  ['of equals the first by name', asking('1Gi'), [sized('z', '1Gi'), sized('a', '1Gi'), sized('m', '1Gi')], 'a'],
  [
    'the fewest access modes before the size',
    asking('1Gi'),
    [sized('many', '1Gi', ['ReadWriteOnce', 'ReadOnlyMany']), sized('one', '5Gi')],
    'one',
  ],
  [
    'all modes that are asked for',
    claimOf('c', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }),
    [sized('one', '1Gi')],
    undefined,
  ],
  [
    'the class',
    claimOf('c', { storageClassName: 'fast' }),
    [volumeOf('slow', { storageClassName: 'slow' }), volumeOf('fast', { storageClassName: 'fast' })],
    'fast',
  ],
  [
    'the class of the annotation before that of the field',
    claimOf('c', { storageClassName: 'slow' }, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } }),
    [volumeOf('fast', { storageClassName: 'fast' }), volumeOf('slow', { storageClassName: 'slow' })],
    'fast',
  ],
  [
    'the volume mode',
    claimOf('c', { volumeMode: 'Block' }),
    [volumeOf('a'), volumeOf('b', { volumeMode: 'Block' })],
    'b',
  ],
  [
    'the labels',
    claimOf('c', { selector: { matchLabels: { zone: 'b' } } }),
    [volumeOf('a'), volumeOf('b', {}, { metadata: { name: 'b', labels: { zone: 'b' } } })],
    'b',
  ],
  [
    'the class of attributes',
    claimOf('c', { volumeAttributesClassName: 'gold' }),
    [volumeOf('a'), volumeOf('b', { volumeAttributesClassName: 'gold' })],
    'b',
  ],
  [
    'only what is available',
    claimOf('c'),
    [volumeOf('a', {}, { phase: 'Released' }), volumeOf('b', {}, { phase: 'Failed' })],
    undefined,
  ],
  ['nothing that is deleted', claimOf('c'), [volumeOf('a', {}, { metadata: { deletionTimestamp: 'now' } })], undefined],
  [
    'nothing that is kept for another',
    claimOf('c'),
    [volumeOf('a', { claimRef: { namespace: 'ns', name: 'other' } })],
    undefined,
  ],
  [
    'what is kept for it, of whatever class',
    claimOf('c'),
    [volumeOf('a'), volumeOf('kept', { claimRef: keptFor, storageClassName: 'x' })],
    'kept',
  ],
  [
    'not what is kept for it, and too small',
    asking('2Gi'),
    [volumeOf('kept', { claimRef: keptFor }), sized('b', '2Gi')],
    'b',
  ],
  [
    'not what was kept for its predecessor',
    claimOf('c'),
    [volumeOf('old', { claimRef: { ...keptFor, uid: 'another' } })],
    undefined,
  ],
]

for (const [what, claim, volumes, expected] of choices)
  test(`a claim gets ${what}`, () => {
    assert.equal(bestVolume(claim, volumes, false)?.metadata.name, expected)
  })

test('where the scheduler chooses, a claim gets only what is kept for it', () => {
  assert.equal(bestVolume(claimOf('c'), [volumeOf('a')], true), undefined)
  assert.equal(
    bestVolume(claimOf('c'), [volumeOf('a'), volumeOf('kept', { claimRef: keptFor })], true)?.metadata.name,
    'kept',
  )
})

test('a volume that is asked for by name says why it does not fit', () => {
  const cases = [
    [volumeOf('v', { capacity: { storage: '1Mi' } }), 'requested PV is too small'],
    [volumeOf('v', { storageClassName: 'x' }), 'storageClassName does not match'],
    [volumeOf('v', { volumeAttributesClassName: 'x' }), 'volumeAttributesClassName does not match'],
    [volumeOf('v', { volumeMode: 'Block' }), 'incompatible volumeMode'],
    [volumeOf('v', { accessModes: ['ReadOnlyMany'] }), 'incompatible accessMode'],
    [volumeOf('v'), undefined],
  ] as const
  for (const [volume, expected] of cases) assert.equal(mismatch(volume, claimOf('c')), expected)
})
