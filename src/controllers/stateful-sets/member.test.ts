import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ordinalOf } from './identity.ts'
import { correctedMember, memberOf } from './member.ts'
import { aPod, aSet, revisions } from './set.fixture.ts'

const claims = [{ metadata: { name: 'data', labels: { of: 'template' } }, spec: { accessModes: ['ReadWriteOnce'] } }]

test('a pod is named after its ordinal and has its own claims as volumes', () => {
  const set = aSet({ volumeClaimTemplates: claims })
  const template = {
    ...revisions.old.template,
    spec: {
      containers: [{ name: 'c' }],
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'tmp', emptyDir: {} },
      ],
    },
  }
  const { metadata, spec } = memberOf(set, { name: 'web-x', template }, 4)
  assert.equal(metadata.name, 'web-4')
  assert.equal(metadata.generateName, 'web-')
  assert.deepEqual(metadata.labels, {
    app: 'web',
    'statefulset.kubernetes.io/pod-name': 'web-4',
    'apps.kubernetes.io/pod-index': '4',
    'controller-revision-hash': 'web-x',
  })
  assert.deepEqual([spec?.hostname, spec?.subdomain], ['web-4', 'web'])
  assert.deepEqual(spec?.volumes, [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-web-4' } },
    { name: 'tmp', emptyDir: {} },
  ])
})

test('ordinalOf parses names in the format of the set', () => {
  const cases: [string, number | undefined][] = [
    ['web-0', 0],
    ['web-12', 12],
    ['web-01', undefined],
    ['web', undefined],
    ['web-a', undefined],
    ['other-1', undefined],
    ['web-2-1', undefined],
    ['web-2147483647', 2147483647],
    ['web-2147483648', undefined],
  ]
  for (const [name, expected] of cases)
    assert.equal(ordinalOf(aSet(), { ...aPod(0, 'ready'), metadata: { name } }), expected, name)
})

test('correctedMember restores missing labels and volumes', () => {
  const pod = aPod(1, 'ready')
  assert.equal(correctedMember(aSet(), pod), undefined)
  const corrected = correctedMember(aSet(), { ...pod, metadata: { ...pod.metadata, labels: { app: 'web' } } })
  assert.equal(corrected?.metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'web-1')
  assert.deepEqual(correctedMember(aSet({ volumeClaimTemplates: claims }), pod)?.spec?.volumes, [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
  ])
})
