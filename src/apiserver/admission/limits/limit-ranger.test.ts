import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../api/core/pod/model.ts'
import { type PluginFixture, pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { limitRanger } from './limit-ranger.ts'

async function withLimits(...limits: readonly object[]) {
  const fixture = pluginFixture()
  await fixture.store('v1/limitranges', { metadata: { name: 'l', namespace: 'a' }, spec: { limits } })
  const plugin = limitRanger(fixture.sources)
  await plugin.start!()
  return { ...fixture, plugin }
}

const podOf = (containers: readonly object[], more: object = {}, namespace = 'a') => ({
  metadata: { name: 'p', namespace },
  spec: { containers: containers.map((resources, i) => ({ name: `c${i}`, image: 'i', resources })), ...more },
})
const write = (fixture: PluginFixture, pod: object) => fixture.write('v1/pods', pod)

test('containers get missing defaults, and an annotation lists them', async () => {
  const fixture = await withLimits({
    type: 'Container',
    default: { cpu: '500m', memory: '512Mi' },
    defaultRequest: { cpu: '250m' },
  })
  const attributes = write(
    fixture,
    podOf([{ requests: { cpu: '100m' } }, { limits: { memory: '1Gi' } }], {
      initContainers: [{ name: 'i', image: 'i' }],
    }),
  )
  assert.equal(await rejectionOf(fixture.plugin, attributes), undefined)
  const { metadata, spec } = attributes.object as Pod
  assert.equal(
    metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: memory request for container c0; cpu, memory limit for container c0; cpu request ' +
      'for container c1; cpu limit for container c1; cpu, memory request for init container i; cpu, memory limit ' +
      'for init container i',
  )
  assert.deepEqual(spec?.containers[1]?.resources, {
    requests: { memory: '1Gi', cpu: '250m' },
    limits: { memory: '1Gi', cpu: '500m' },
  })
})

test('a pod in a namespace without LimitRanges does not change', async () => {
  const fixture = await withLimits({ type: 'Container', default: { cpu: '1' } })
  const attributes = write(fixture, podOf([{}], {}, 'b'))
  const before = structuredClone(attributes.object)
  assert.equal(await rejectionOf(fixture.plugin, attributes), undefined)
  assert.deepEqual(attributes.object, before)
})

const bounds = [
  {
    type: 'Container',
    min: { cpu: '100m' },
    max: { cpu: '1' },
    default: { cpu: '1' },
    defaultRequest: { cpu: '100m' },
  },
  { type: 'Pod', max: { cpu: '1500m', memory: '1Gi' }, min: { memory: '64Mi' } },
]
const fits = { requests: { cpu: '500m', memory: '100Mi' }, limits: { cpu: '1', memory: '100Mi' } }

for (const [what, pod, refusal] of [
  ['fits', podOf([fits]), undefined],
  [
    'less than the minimum',
    podOf([{ requests: { cpu: '50m', memory: '100Mi' }, limits: fits.limits }]),
    'minimum cpu usage per Container is 100m, but request is 50m',
  ],
  [
    'several faults',
    podOf([{ requests: fits.requests, limits: { cpu: '2', memory: '100Mi' } }]),
    '[maximum cpu usage per Container is 1, but limit is 2, maximum cpu usage per Pod is 1500m, but limit is 2]',
  ],
  ['all containers together', podOf([fits, fits]), 'maximum cpu usage per Pod is 1500m, but limit is 2'],
  [
    'an init container',
    podOf([fits], {
      initContainers: [{ name: 'i', image: 'i', resources: { limits: { cpu: '3', memory: '100Mi' } } }],
    }),
    '[maximum cpu usage per Container is 1, but limit is 3, maximum cpu usage per Pod is 1500m, but limit is 3]',
  ],
  [
    'one init container after the other',
    podOf([fits], { initContainers: [0, 1].map((i) => ({ name: `i${i}`, image: 'i', resources: fits })) }),
    undefined,
  ],
  [
    'a sidecar beside the containers',
    podOf([fits], { initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always', resources: fits }] }),
    'maximum cpu usage per Pod is 1500m, but limit is 2',
  ],
  [
    'no request and no limit',
    podOf([{ limits: { cpu: '1' } }]),
    '[minimum memory usage per Pod is 64Mi.  No request is specified, maximum memory usage per Pod is 1Gi.  No ' +
      'limit is specified]',
  ],
] as const)
  test(`a pod must be within the bounds: ${what}`, async () => {
    const fixture = await withLimits(...bounds)
    assert.equal(await rejectionOf(fixture.plugin, write(fixture, pod)), refusal && `pods "p" is forbidden: ${refusal}`)
  })

test('violations are reported in the order of the LimitRange', async () => {
  const fixture = await withLimits(...bounds.toReversed())
  assert.equal(
    await rejectionOf(
      fixture.plugin,
      write(fixture, podOf([{ requests: fits.requests, limits: { cpu: '2', memory: '100Mi' } }])),
    ),
    'pods "p" is forbidden: [maximum cpu usage per Pod is 1500m, but limit is 2, maximum cpu usage per Container ' +
      'is 1, but limit is 2]',
  )
})

for (const [what, resources, refusal] of [
  ['too far apart', { requests: { cpu: '100m' }, limits: { cpu: '300m' } }, 'but provided ratio is 3.000000'],
  ['close enough', { requests: { cpu: '150m' }, limits: { cpu: '300m' } }, undefined],
  ['no limit', { requests: { cpu: '100m' } }, 'but no limit is specified or limit is 0'],
  ['no request', {}, 'but no request is specified or request is 0'],
] as const)
  test(`the ratio of limit to request has a maximum: ${what}`, async () => {
    const fixture = await withLimits({ type: 'Container', maxLimitRequestRatio: { cpu: '2' } })
    const message = refusal && `pods "p" is forbidden: cpu max limit to request ratio per Container is 2, ${refusal}`
    assert.equal(await rejectionOf(fixture.plugin, write(fixture, podOf([resources]))), message)
  })

test('a claim must be within the bounds, also when it grows', async () => {
  const fixture = await withLimits({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } })
  const claim = (storage: string) =>
    fixture.write('v1/persistentvolumeclaims', {
      metadata: { name: 'c', namespace: 'a' },
      spec: { resources: { requests: { storage } } },
    })
  const start = 'persistentvolumeclaims "c" is forbidden:'
  assert.equal(
    await rejectionOf(fixture.plugin, claim('500Mi')),
    `${start} minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi`,
  )
  assert.equal(await rejectionOf(fixture.plugin, claim('2Gi')), undefined)
  assert.equal(
    await rejectionOf(fixture.plugin, { ...claim('3Gi'), operation: 'UPDATE', old: claim('2Gi').object }),
    `${start} maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`,
  )
})

test('an existing pod is checked only when it is resized', async () => {
  const fixture = await withLimits(...bounds)
  const attributes = write(fixture, podOf([{ requests: { cpu: '50m', memory: '100Mi' }, limits: fits.limits }]))
  assert.equal(
    await rejectionOf(fixture.plugin, { ...attributes, operation: 'UPDATE', old: attributes.object }),
    undefined,
  )
  assert.match(
    String(
      await rejectionOf(fixture.plugin, {
        ...attributes,
        operation: 'UPDATE',
        subresource: 'resize',
        old: attributes.object,
      }),
    ),
    /request is 50m$/,
  )
})
