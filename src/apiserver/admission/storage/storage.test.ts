import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { persistentVolumeClaimResize } from './claim-resize.ts'
import { storageObjectInUseProtection } from './in-use-protection.ts'

test('claims, volumes and VolumeAttributesClasses get their finalizer once', async () => {
  const { sources, write } = pluginFixture()
  const plugin = storageObjectInUseProtection(sources)
  for (const [resource, finalizer] of [
    ['v1/persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
    ['v1/persistentvolumes', 'kubernetes.io/pv-protection'],
    ['storage.k8s.io/v1/volumeattributesclasses', 'kubernetes.io/vac-protection'],
  ] as const) {
    const attributes = write(resource, { metadata: { name: 'o', finalizers: ['example.com/own'] } })
    await rejectionOf(plugin, attributes)
    await rejectionOf(plugin, attributes)
    assert.deepEqual(attributes.object?.metadata.finalizers, ['example.com/own', finalizer])
  }
  const other = write('v1/secrets', { metadata: { name: 'o' } })
  await rejectionOf(plugin, other)
  assert.equal(other.object?.metadata.finalizers, undefined)
})

test('a claim may grow only if it is bound and its class allows it', async () => {
  const fixture = pluginFixture()
  const storageClass = (name: string, more: object) =>
    fixture.store('storage.k8s.io/v1/storageclasses', { metadata: { name }, provisioner: 'x', ...more })
  await storageClass('grows', { allowVolumeExpansion: true })
  await storageClass('stays', {})
  const plugin = persistentVolumeClaimResize(fixture.sources)
  await plugin.start!()
  const claim = (storage: string, storageClassName?: string, phase = 'Bound') =>
    fixture.write('v1/persistentvolumeclaims', {
      metadata: { name: 'c', namespace: 'a' },
      spec: { storageClassName, resources: { requests: { storage } } },
      status: { phase },
    })
  const change = (to: string, name?: string, phase?: string) =>
    rejectionOf(plugin, { ...claim(to, name, phase), operation: 'UPDATE', old: claim('2Gi', name, phase).object })
  const start = 'persistentvolumeclaims "c" is forbidden:'
  const refused =
    `${start} only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must ` +
    'support resize'
  assert.equal(await change('3Gi', 'grows'), undefined)
  assert.equal(await change('3Gi', 'stays'), refused)
  assert.equal(await change('3Gi', 'gone'), refused)
  assert.equal(await change('3Gi'), refused)
  assert.equal(await change('3Gi', 'grows', 'Pending'), `${start} Only bound persistent volume claims can be expanded`)
  assert.equal(await change('2Gi', 'stays'), undefined)
  plugin.stop!()
})
