import assert from 'node:assert/strict'
import test from 'node:test'
import type { FieldError } from '../../machinery/validation/field-error.ts'
import { volumeAttachments } from './volume-attachment.ts'

const { validate } = volumeAttachments
const errorMessages = (errors: readonly FieldError[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message.replace(/a lowercase RFC.*/, 'no name')}`)
const of = (source: object, spec: object = {}, status?: object): never =>
  ({
    metadata: { name: 'a' },
    spec: { attacher: 'driver.example.com', nodeName: 'n', source, ...spec },
    status,
  }) as never
const create = (source: object, spec: object = {}): string[] =>
  errorMessages([...(validate?.object?.(of(source, spec)) ?? []), ...(validate?.create?.(of(source, spec)) ?? [])])

const csi = { driver: 'driver.example.com', volumeHandle: 'h' }
const inline = (over: object): object => ({ inlineVolumeSpec: { csi, accessModes: ['ReadWriteOnce'], ...over } })
const path = 'spec.source.inlineVolumeSpec'
const context = 'in the context of inline volumes'

test('an attachment has exactly one of persistentVolumeName and inlineVolumeSpec', () => {
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  assert.deepEqual(create({ persistentVolumeName: 'v' }), [])
  assert.deepEqual(create(inline({})), [])
  assert.deepEqual(create({}), [`spec.source: Required value: ${one}`])
  assert.deepEqual(create({ persistentVolumeName: 'v', ...inline({}) }), [`spec.source: Forbidden: ${one}`])
  assert.deepEqual(create({ persistentVolumeName: 'A_v' }), [
    'spec.source.persistentVolumeName: Invalid value: "A_v": no name',
  ])
  assert.deepEqual(errorMessages(validate?.object?.(of({ persistentVolumeName: 'A_v' }))), [])
  assert.deepEqual(create({ persistentVolumeName: 'v' }, { attacher: '' }), ['spec.attacher: Required value'])
  assert.deepEqual(create({ persistentVolumeName: 'v', ...inline({}) }, { attacher: 'a b' }), [
    'spec.attacher: Invalid value: "a b": no name',
    `spec.source: Forbidden: ${one}`,
  ])
})

test('an inline volume needs a CSI source, and no fields of a PersistentVolume object', () => {
  const cases: readonly (readonly [object, ...string[]])[] = [
    [{ persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' }],
    [{ claimRef: { name: 'c' } }, `claimRef: Forbidden: may not be specified ${context}`],
    [{ capacity: { storage: '1Gi' } }, `capacity: Forbidden: may not be specified ${context}`],
    [{ csi: undefined, nfs: { server: 's', path: '/' } }, `csi: Required value: has to be specified ${context}`],
    [{ accessModes: [] }, 'accessModes: Required value'],
    [
      { persistentVolumeReclaimPolicy: 'Delete' },
      `persistentVolumeReclaimPolicy: Forbidden: may only be Retain ${context}`,
    ],
    [{ nodeAffinity: { required: {} } }, `nodeAffinity: Forbidden: may not be specified ${context}`],
    [{ csi: { ...csi, volumeHandle: '' } }, 'csi.volumeHandle: Required value'],
    [{ storageClassName: 'fast' }, `storageClassName: Forbidden: may not be specified ${context}`],
    [{ volumeMode: 'Block' }, `volumeMode: Forbidden: may not specify volumeMode other than Filesystem ${context}`],
  ]
  for (const [over, ...wrong] of cases)
    assert.deepEqual(
      create(inline(over)),
      wrong.map((line) => `${path}.${line}`),
    )
})

test('the status of an attachment has size limits', () => {
  const statusErrors = (status: object): string[] => errorMessages(validate?.status?.(of({}, {}, status), of({})))
  assert.deepEqual(
    statusErrors({ attached: true, attachmentMetadata: { a: 'b' }, attachError: { message: 'm', errorCode: 1 } }),
    [],
  )
  assert.deepEqual(
    statusErrors({
      attachmentMetadata: { a: 'x'.repeat(256 * 1024) },
      detachError: { message: 'x'.repeat(1025), errorCode: -1 },
    }),
    [
      'status.attachmentMetadata: Too long: may not be more than 262144 bytes',
      'status.detachError.message: Too long: may not be more than 262144 bytes',
      'status.detachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
  )
})
