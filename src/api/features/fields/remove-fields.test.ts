import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldType } from '../../../machinery/schema.ts'
import { allResources } from '../../registry.ts'
import { schemaType } from '../../schema/index.ts'
import { FeatureGates, type FeatureSettings } from '../feature-gates.ts'
import { knownGates } from '../gates.ts'
import { gatedFields, podSpecs } from './gated-fields.ts'
import { fieldRemover } from './remove-fields.ts'

const kind = (key: string, version = 'v1') => {
  const [group = '', plural = ''] = key.includes('/') ? key.split('/') : ['', key]
  return { group, version, plural }
}

/** Returns `object` after a write, with the given features and stored object. */
function afterWrite<T extends object>(
  key: string,
  object: T,
  { old, features = {}, version }: { old?: object; features?: FeatureSettings; version?: string } = {},
): T {
  const copy = structuredClone(object)
  fieldRemover(kind(key, version), new FeatureGates(features))?.(copy, old)
  return copy
}

const rolling = (rollingUpdate: object) => ({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } })

test('a field of a disabled feature is removed', () => {
  assert.deepEqual(
    afterWrite('apps/statefulsets', rolling({ partition: 1, maxUnavailable: 0 })),
    rolling({ partition: 1 }),
  )
})

test('a field of an enabled feature stays', () => {
  const set = rolling({ maxUnavailable: 2 })
  assert.deepEqual(afterWrite('apps/statefulsets', set, { features: { MaxUnavailableStatefulSet: true } }), set)
  assert.equal(fieldRemover(kind('apps/replicasets'), new FeatureGates({ AllAlpha: true, AllBeta: true })), undefined)
})

test('a field of a disabled feature may change if the stored object has it', () => {
  const set = rolling({ maxUnavailable: 2 })
  assert.deepEqual(afterWrite('apps/statefulsets', set, { old: rolling({ maxUnavailable: 1 }) }), set)
  assert.deepEqual(afterWrite('apps/statefulsets', set, { old: rolling({}) }), rolling({}))
})

test('kinds without fields of disabled features have no remover', () => {
  for (const key of [
    'configmaps',
    'secrets',
    'services',
    'nodes',
    'apps/controllerrevisions',
    'rbac.authorization.k8s.io/roles',
  ])
    assert.equal(fieldRemover(kind(key), new FeatureGates()), undefined, key)
})

const pod = {
  containers: [{ name: 'c', lifecycle: { stopSignal: 'SIGUSR1' } }],
  initContainers: [{ name: 'i', lifecycle: { stopSignal: 'SIGTERM', preStop: {} } }],
}
const without = { containers: [{ name: 'c' }], initContainers: [{ name: 'i', lifecycle: { preStop: {} } }] }

test('pod fields are removed from the templates of every kind', () => {
  for (const [key, path] of Object.entries(podSpecs)) {
    const nested = (spec: object): object =>
      path.split('.').reduceRight<object>((inner, name) => ({ [name]: inner }), spec)
    assert.deepEqual(afterWrite(key, nested(pod)), nested(without), key)
    assert.deepEqual(afterWrite(key, nested(pod), { features: { ContainerStopSignals: true } }), nested(pod), key)
  }
})

test('sources of projected volumes are emptied, not removed', () => {
  const spec = (source: object) => ({
    spec: { volumes: [{ name: 'v', projected: { sources: [source, { secret: { name: 's' } }] } }] },
  })
  assert.deepEqual(
    afterWrite('pods', spec({ podCertificate: { signerName: 'example.com/s' }, clusterTrustBundle: { path: 'p' } })),
    spec({}),
  )
})

test('a value that needs no feature stays', () => {
  const spec = {
    spec: {
      containers: [{ restartPolicy: 'Never' }],
      initContainers: [{ restartPolicy: 'Always' }, { restartPolicy: 'Never' }],
    },
  }
  const features = { ContainerRestartRules: false, RestartAllContainersOnContainerExits: false }
  assert.deepEqual(afterWrite('pods', spec, { features }), {
    spec: { containers: [{}], initContainers: [{ restartPolicy: 'Always' }, {}] },
  })
})

test('a dataSourceRef is removed if it has a namespace, and stays without', () => {
  const claim = (namespace?: string) => ({
    spec: { dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'a', ...(namespace && { namespace }) } },
  })
  assert.deepEqual(afterWrite('persistentvolumeclaims', claim('other')), { spec: {} })
  assert.deepEqual(afterWrite('persistentvolumeclaims', claim()), claim())
  assert.deepEqual(afterWrite('persistentvolumeclaims', claim('other'), { old: claim() }), claim('other'))
  assert.deepEqual(
    afterWrite('persistentvolumeclaims', claim('other'), { features: { CrossNamespaceVolumeDataSource: true } }),
    claim('other'),
  )
})

test('a field of two features needs both', () => {
  const slice = { spec: { devices: [{ name: 'd', bindsToNode: true }] } }
  const features = { DRAResourceClaimDeviceStatus: false, DRAResourceClaimGranularStatusAuthorization: false }
  assert.deepEqual(afterWrite('resource.k8s.io/resourceslices', slice, { features }), {
    spec: { devices: [{ name: 'd' }] },
  })
  assert.deepEqual(afterWrite('resource.k8s.io/resourceslices', slice), slice)
})

test('fields in values of maps are removed, also in the shape of other versions', () => {
  const attributes = { model: { string: 'a' }, numa: { ints: [1, 2] } }
  const rest = { model: { string: 'a' }, numa: {} }
  const v1 = (value: object) => ({ spec: { devices: [{ name: 'd', attributes: value }] } })
  const v1beta1 = (value: object) => ({ spec: { devices: [{ name: 'd', basic: { attributes: value } }] } })
  assert.deepEqual(afterWrite('resource.k8s.io/resourceslices', v1(attributes)), v1(rest))
  assert.deepEqual(
    afterWrite('resource.k8s.io/resourceslices', v1beta1(attributes), { version: 'v1beta1' }),
    v1beta1(rest),
  )
})

test('every entry has gates that can be disabled, and existing fields', () => {
  for (const { gates, kind, fields, inUse = [], onlyWith = [] } of gatedFields) {
    for (const gate of gates) assert.equal(knownGates.get(gate)?.isLocked, false, gate)
    const key = kind === 'podSpec' ? 'pods' : kind
    const definition = allResources.find(({ group, plural }) => (group ? `${group}/${plural}` : plural) === key)
    assert.ok(definition, kind)
    for (const field of [...fields, ...inUse, ...onlyWith]) {
      const path = typeof field === 'string' ? field : field.path
      const whole = kind === 'podSpec' ? `spec.${path}` : path
      let type: FieldType | undefined = schemaType(definition)
      for (const segment of whole.split('.')) {
        const suffix = /\[\]|\{\}/.exec(segment)?.[0]
        const field: FieldType | undefined =
          type?.kind === 'struct' ? type.fields.get(segment.replace(/\W+$/, ''))?.type : undefined
        type =
          suffix === '[]' && field?.kind === 'array'
            ? field.items
            : suffix === '{}' && field?.kind === 'map'
              ? field.values
              : suffix
                ? undefined
                : field
        assert.ok(type, `${kind} ${path}: ${segment}`)
      }
    }
  }
})
