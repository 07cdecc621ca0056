import assert from 'node:assert/strict'
import test from 'node:test'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { persistentVolumes } from './persistent-volume.ts'
import { persistentVolumeClaims } from './persistent-volume-claim.ts'

const told = (errors: readonly FieldError[] | undefined): string[] => (errors ?? []).map(({ field, message }) => `${field}: ${message}`)
const claim = (spec: object, status: object = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', namespace: 'n' },
  spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', resources: { requests: { storage: '2Gi' } }, ...spec },
  status,
})
const volume = (spec: object) => ({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'], ...spec } })
const { object, update, status } = persistentVolumeClaims.validate ?? {}

test('the sources of a claim are one', () => {
  assert.deepEqual(
    told(object?.(claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'a' }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' } }))),
    ['spec: Invalid value: spec.dataSource: must match dataSourceRef'],
  )
  assert.deepEqual(told(object?.(claim({ dataSource: { kind: 'Foo', apiGroup: 'A_B', name: 'a' } }))).length, 1)
})

test('a bound claim shrinks to no less than it has', () => {
  const bound = { phase: 'Bound', capacity: { storage: '1Gi' } }
  const smaller = (storage: string) => claim({ resources: { requests: { storage } } }, bound)
  assert.deepEqual(told(update?.(smaller('1536Mi'), claim({}, bound))), [])
  assert.deepEqual(told(update?.(smaller('1Gi'), claim({}, bound))), ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'])
})

test('the attributes of a claim are not taken away, and what is allocated is storage', () => {
  const bound = { phase: 'Bound' }
  assert.deepEqual(told(update?.(claim({ volumeAttributesClassName: '' }, bound), claim({ volumeAttributesClassName: 'a' }, bound))), [
    'spec.volumeAttributesClassName: Forbidden: update from non-nil value to an empty string is forbidden',
  ])
  const wrong = claim({}, { allocatedResourceStatuses: { cpu: 'NodeResizePending' }, allocatedResources: { storage: '-1' } })
  assert.deepEqual(told(status?.(wrong, claim({}))), [
    'status.allocatedResourceStatus: Unsupported value: "cpu": supported values: "storage"',
    'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
  ])
})

test('a volume says where it is', () => {
  const rules = persistentVolumes.validate?.object
  const { update: changes } = persistentVolumes.validate ?? {}
  assert.deepEqual(told(rules?.(volume({ capacity: { storage: '1Gi' }, nodeAffinity: {}, local: { path: '/a' } }))), [
    'spec.nodeAffinity.required: Required value: must specify required node constraints',
  ])
  const csi = (more: object = {}) => volume({ capacity: { storage: '1Gi' }, csi: { driver: 'd', volumeHandle: 'h', ...more } })
  assert.deepEqual(told(rules?.(csi({ nodePublishSecretRef: { name: 'A', namespace: 'n.n' } }))).length, 2)
  assert.deepEqual(told(changes?.(csi({ controllerExpandSecretRef: { name: 'a', namespace: 'b' } }), csi())), [])
  assert.deepEqual(told(changes?.(csi({ volumeHandle: 'x' }), csi())).length, 1)
})
