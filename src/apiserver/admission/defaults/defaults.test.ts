import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginFixture, rejectionOf } from '../plugin.fixture.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { newestDefault } from './newest-default.ts'

const marked = 'storageclass.kubernetes.io/is-default-class'
const className = ({ object }: { object?: object }) =>
  (object as { spec?: Record<string, unknown> }).spec?.storageClassName

test('a claim without a class gets the default class', async () => {
  const fixture = pluginFixture()
  const plugin = defaultStorageClass(fixture.sources)
  await plugin.start!()
  const claim = (more: object = {}, annotations: object = {}) =>
    fixture.write('v1/persistentvolumeclaims', {
      metadata: { name: 'c', namespace: 'a', annotations },
      spec: { resources: {}, ...more },
    })
  const before = claim()
  await rejectionOf(plugin, before)
  assert.equal(className(before), undefined)
  const storageClass = (name: string, annotations: object) =>
    fixture.store('storage.k8s.io/v1/storageclasses', { metadata: { name, annotations }, provisioner: 'x' })
  await storageClass('plain', {})
  await storageClass('old', { 'storageclass.beta.kubernetes.io/is-default-class': 'true' })
  for (const [more, annotations, expected] of [
    [{}, {}, 'old'],
    [{ storageClassName: 'plain' }, {}, 'plain'],
    [{ storageClassName: '' }, {}, ''],
    [{}, { 'volume.beta.kubernetes.io/storage-class': 'plain' }, undefined],
  ] as const) {
    const attributes = claim(more, annotations)
    await rejectionOf(plugin, attributes)
    assert.equal(className(attributes), expected)
  }
  plugin.stop!()
})

test('the newest of several default classes is used; of equally new ones, the first by name', async () => {
  const fixture = pluginFixture()
  const kind = 'storage.k8s.io/v1/storageclasses'
  const classes = newestDefault(fixture.sources, kind, [marked])
  await classes.start()
  const resource = fixture.sources.find(kind)
  const put = async (name: string, creationTimestamp: string) => {
    const { object } = fixture.write(kind, {
      metadata: { name, annotations: { [marked]: 'true' }, creationTimestamp },
      provisioner: 'x',
    })
    await fixture.sources.registry.commits.put(resource, resource.key('', name), object!, undefined)
    return classes.current
  }
  assert.equal(await put('m', '2026-01-02T00:00:00Z'), 'm')
  assert.equal(await put('a', '2026-01-01T00:00:00Z'), 'm')
  assert.equal(await put('z', '2026-01-02T00:00:00Z'), 'm')
  assert.equal(await put('b', '2026-01-02T00:00:00Z'), 'b')
  await fixture.sources.registry.commits.remove(
    resource,
    resource.key('', 'b'),
    (await fixture.sources.registry.newest(resource, resource.key('', 'b')))!.revision,
  )
  assert.equal(classes.current, 'm')
  classes.stop()
})

test('an ingress without a class gets the default class', async () => {
  const fixture = pluginFixture()
  const plugin = defaultIngressClass(fixture.sources)
  await plugin.start!()
  await fixture.store('networking.k8s.io/v1/ingressclasses', {
    metadata: { name: 'nginx', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: 'example.com/c' },
  })
  const given = async (spec: object, annotations: object = {}) => {
    const attributes = fixture.write('networking.k8s.io/v1/ingresses', {
      metadata: { name: 'i', namespace: 'a', annotations },
      spec,
    })
    await rejectionOf(plugin, attributes)
    return (attributes.object as unknown as { spec: Record<string, unknown> }).spec.ingressClassName
  }
  assert.equal(await given({}), 'nginx')
  assert.equal(await given({ ingressClassName: 'own' }), 'own')
  assert.equal(await given({}, { 'kubernetes.io/ingress.class': 'old' }), undefined)
  plugin.stop!()
})
