import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '../../../machinery/object.ts'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { persistentVolumes } from './persistent-volume.ts'
import { persistentVolumeClaims } from './persistent-volume-claim.ts'

const errorMessages = (errors: readonly FieldError[] | undefined): string[] =>
  (errors ?? []).map(({ field, message }) => `${field}: ${message}`)
const claim = (spec: object, status: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', namespace: 'n' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Filesystem',
    resources: { requests: { storage: '2Gi' } },
    ...spec,
  },
  status,
})
const volume = (spec: object) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v' },
  spec: { accessModes: ['ReadWriteOnce'], ...spec },
})
const { object, update, status } = persistentVolumeClaims.validate ?? {}

test('dataSource and dataSourceRef of a claim must match', () => {
  assert.deepEqual(
    errorMessages(
      object?.(
        claim({
          dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
          dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
        }),
      ),
    ),
    ['spec: Invalid value: {}: must match dataSourceRef'],
  )
  assert.deepEqual(
    errorMessages(object?.(claim({ dataSource: { kind: 'Foo', apiGroup: 'A_B', name: 'a' } }))).length,
    1,
  )
})

test('a changed node affinity of a volume is shown as a Go struct', () => {
  const affinity = (zone: string) => ({
    nodeAffinity: {
      required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] },
    },
  })
  assert.deepEqual(
    errorMessages(
      persistentVolumes.validate?.update?.(volume(affinity('b')) as KubeObject, volume(affinity('a')) as KubeObject),
    ),
    [
      'nodeAffinity: Invalid value: ' +
        '{"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"zone",' +
        '"Operator":"In","Values":["b"]}],"MatchFields":null}]}}: ' +
        'field is immutable, except for updating from beta label to GA',
    ],
  )
})

test('a bound claim cannot shrink to its capacity or below', () => {
  const bound = { phase: 'Bound', capacity: { storage: '1Gi' } }
  const smaller = (storage: string) => claim({ resources: { requests: { storage } } }, bound)
  assert.deepEqual(errorMessages(update?.(smaller('1536Mi'), claim({}, bound))), [])
  assert.deepEqual(errorMessages(update?.(smaller('1Gi'), claim({}, bound))), [
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ])
})

test('an applied attributes class cannot be removed, and only storage can be allocated', () => {
  const bound = { phase: 'Bound' }
  assert.deepEqual(
    errorMessages(
      update?.(claim({ volumeAttributesClassName: '' }, bound), claim({ volumeAttributesClassName: 'a' }, bound)),
    ),
    [],
  )
  const [of, none] = [{ volumeAttributesClassName: 'a' }, { ...bound, currentVolumeAttributesClassName: 'a' }]
  assert.deepEqual(errorMessages(update?.(claim({ volumeAttributesClassName: '' }, none), claim(of, none))), [
    'spec.volumeAttributesClassName: Forbidden: update to empty string is forbidden when ' +
      'status.currentVolumeAttributesClassName is not nil',
  ])
  assert.deepEqual(errorMessages(update?.(claim({}, none), claim(of, none))), [
    'spec.volumeAttributesClassName: Forbidden: update to nil is forbidden when ' +
      'status.currentVolumeAttributesClassName is not nil',
  ])
  const wrong = claim(
    {},
    { allocatedResourceStatuses: { cpu: 'NodeResizePending' }, allocatedResources: { storage: '-1' } },
  )
  assert.deepEqual(errorMessages(status?.(wrong, claim({}))), [
    'status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage"',
    'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
  ])
})

test('a volume needs a valid source, and node affinity for local storage', () => {
  const rules = persistentVolumes.validate?.object
  const { update: changes } = persistentVolumes.validate ?? {}
  assert.deepEqual(
    errorMessages(rules?.(volume({ capacity: { storage: '1Gi' }, nodeAffinity: {}, local: { path: '/a' } }))),
    ['spec.nodeAffinity.required: Required value: must specify required node constraints'],
  )
  const csi = (more: object = {}) =>
    volume({ capacity: { storage: '1Gi' }, csi: { driver: 'd', volumeHandle: 'h', ...more } })
  assert.deepEqual(errorMessages(rules?.(csi({ nodePublishSecretRef: { name: 'A', namespace: 'n.n' } }))).length, 2)
  assert.deepEqual(
    errorMessages(changes?.(csi({ controllerExpandSecretRef: { name: 'a', namespace: 'b' } }), csi())),
    [],
  )
  assert.deepEqual(errorMessages(changes?.(csi({ volumeHandle: 'x' }), csi())).length, 1)
})

test('a dataSource that is neither a claim nor a snapshot is dropped, unless it is in dataSourceRef', () => {
  const settled = (spec: object): object => {
    const given: KubeObject & { spec?: { dataSource?: object; dataSourceRef?: object } } = { ...claim({}), spec }
    persistentVolumeClaims.prepare?.create?.(given, 'a' as never)
    return { dataSource: given.spec?.dataSource, dataSourceRef: given.spec?.dataSourceRef }
  }
  const [other, source] = [
    { apiGroup: 'a.example', kind: 'Filler', name: 'x' },
    { apiGroup: '', kind: 'PersistentVolumeClaim', name: 'x' },
  ]
  assert.deepEqual(settled({ dataSource: other }), { dataSource: undefined, dataSourceRef: undefined })
  assert.deepEqual(settled({ dataSourceRef: other }), { dataSource: other, dataSourceRef: other })
  assert.deepEqual(settled({ dataSource: source }), { dataSource: source, dataSourceRef: source })
  const elsewhere = { ...source, namespace: 'n' }
  assert.deepEqual(settled({ dataSourceRef: elsewhere }), { dataSource: undefined, dataSourceRef: elsewhere })
})

test('the node affinity of a volume is immutable, except from beta labels to GA labels', () => {
  const near = (key: string) =>
    volume({
      nfs: { server: 's', path: '/' },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }] },
      },
    })
  const changed = (to: string, from: string): string[] =>
    errorMessages(persistentVolumes.validate?.update?.(near(to), near(from))).map((text) =>
      text.slice(0, text.indexOf(': ')),
    )
  assert.deepEqual(changed('topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'), [])
  assert.deepEqual(changed('failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'), ['nodeAffinity'])
  assert.deepEqual(changed('topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone'), ['nodeAffinity'])
})

test('an iSCSI volume needs its required fields', () => {
  const iscsi = { targetPortal: '1.2.3.4', iqn: 'iqn.2015-02.example.com:test', lun: 1 }
  const found = (over: object): string[] =>
    errorMessages(
      persistentVolumes.validate?.object?.(
        volume({ capacity: { storage: '1Gi' }, persistentVolumeReclaimPolicy: 'Retain', iscsi: { ...iscsi, ...over } }),
      ),
    )
  assert.deepEqual(found({}), [])
  assert.deepEqual(found({ iqn: 'iqn.x' }), ['spec.iscsi.iqn: Invalid value: "iqn.x": must be valid format'])
  assert.deepEqual(found({ secretRef: { name: '' }, chapAuthDiscovery: true }), [
    'spec.iscsi.secretRef.name: Required value',
  ])
})
