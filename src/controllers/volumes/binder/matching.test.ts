import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bestVolume, mismatch } from '../../../api/core/storage/binding/matching.ts'
import type { PersistentVolume } from '../../../client/kinds.ts'
import { claimOf, volumeOf } from './binder.fixture.ts'

const sized = (name: string, storage: string, accessModes = ['ReadWriteOnce']): PersistentVolume =>
  volumeOf(name, { capacity: { storage }, accessModes })
const asking = (storage: string) => claimOf('c', { resources: { requests: { storage } } })
const reservedFor = { namespace: 'ns', name: 'c' }

const choices: readonly (readonly [
  title: string,
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
  ['the first by name among equals', asking('1Gi'), [sized('z', '1Gi'), sized('a', '1Gi'), sized('m', '1Gi')], 'a'],
  [
    'the fewest access modes before the size',
    asking('1Gi'),
    [sized('many', '1Gi', ['ReadWriteOnce', 'ReadOnlyMany']), sized('one', '5Gi')],
    'one',
  ],
  [
    'only volumes with all requested access modes',
    claimOf('c', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }),
    [sized('one', '1Gi')],
    undefined,
  ],
  [
    'volumes of the class',
    claimOf('c', { storageClassName: 'fast' }),
    [volumeOf('slow', { storageClassName: 'slow' }), volumeOf('fast', { storageClassName: 'fast' })],
    'fast',
  ],
  [
    'the class of the annotation over that of the field',
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
    'the attributes class',
    claimOf('c', { volumeAttributesClassName: 'gold' }),
    [volumeOf('a'), volumeOf('b', { volumeAttributesClassName: 'gold' })],
    'b',
  ],
  [
    'only available volumes',
    claimOf('c'),
    [volumeOf('a', {}, { phase: 'Released' }), volumeOf('b', {}, { phase: 'Failed' })],
    undefined,
  ],
  ['no deleted volume', claimOf('c'), [volumeOf('a', {}, { metadata: { deletionTimestamp: 'now' } })], undefined],
  [
    'no volume reserved for another claim',
    claimOf('c'),
    [volumeOf('a', { claimRef: { namespace: 'ns', name: 'other' } })],
    undefined,
  ],
  [
    'a volume reserved for it, of any class',
    claimOf('c'),
    [volumeOf('a'), volumeOf('reserved', { claimRef: reservedFor, storageClassName: 'x' })],
    'reserved',
  ],
  [
    'no reserved volume that is too small',
    asking('2Gi'),
    [volumeOf('reserved', { claimRef: reservedFor }), sized('b', '2Gi')],
    'b',
  ],
  [
    'no volume reserved for its predecessor',
    claimOf('c'),
    [volumeOf('old', { claimRef: { ...reservedFor, uid: 'another' } })],
    undefined,
  ],
]

for (const [title, claim, volumes, expected] of choices)
  test(`bestVolume chooses ${title}`, () => {
    assert.equal(bestVolume(claim, volumes, false)?.metadata.name, expected)
  })

test('with WaitForFirstConsumer a claim gets only a volume reserved for it', () => {
  assert.equal(bestVolume(claimOf('c'), [volumeOf('a')], true), undefined)
  assert.equal(
    bestVolume(claimOf('c'), [volumeOf('a'), volumeOf('reserved', { claimRef: reservedFor })], true)?.metadata.name,
    'reserved',
  )
})

test('mismatch returns why a volume requested by name does not match', () => {
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
