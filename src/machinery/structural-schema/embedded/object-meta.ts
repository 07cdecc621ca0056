/** The type of ObjectMeta, to decode the metadata of resources that are embedded in custom objects. */
import type { Field, FieldType, StructType } from '../../schema.ts'

const field = (type: FieldType): Field => ({ type, keepsEmpty: false })
const string: FieldType = { kind: 'string' }
const boolean: FieldType = { kind: 'boolean' }
const time: FieldType = { kind: 'string', format: 'date-time' }
const int64: FieldType = { kind: 'integer', format: 'int64' }
const strings: FieldType = { kind: 'map', values: string }

const struct = (goName: string, fields: Readonly<Record<string, Field>>): StructType => ({
  kind: 'struct',
  definition: `io.k8s.apimachinery.pkg.apis.meta.v1.${goName}`,
  goName,
  fields: new Map(Object.entries(fields)),
  required: new Set(),
  atomic: false,
  groupVersionKinds: [],
})

const ownerReference = struct('OwnerReference', {
  // Go writes these four even if they are empty.
  apiVersion: { type: string, keepsEmpty: true, written: true },
  kind: { type: string, keepsEmpty: true, written: true },
  name: { type: string, keepsEmpty: true, written: true },
  uid: { type: string, keepsEmpty: true, written: true },
  controller: { type: boolean, keepsEmpty: true },
  blockOwnerDeletion: { type: boolean, keepsEmpty: true },
})

const managedFieldsEntry = struct('ManagedFieldsEntry', {
  manager: field(string),
  operation: field(string),
  apiVersion: field(string),
  time: field(time),
  fieldsType: field(string),
  fieldsV1: field({ kind: 'any' }),
  subresource: field(string),
})

export const objectMetaType: StructType = struct('ObjectMeta', {
  name: field(string),
  generateName: field(string),
  namespace: field(string),
  selfLink: field(string),
  uid: field(string),
  resourceVersion: field(string),
  generation: field(int64),
  creationTimestamp: field(time),
  deletionTimestamp: field(time),
  deletionGracePeriodSeconds: { type: int64, keepsEmpty: true },
  labels: field(strings),
  annotations: field(strings),
  ownerReferences: field({ kind: 'array', items: ownerReference }),
  finalizers: field({ kind: 'array', items: string }),
  managedFields: field({ kind: 'array', items: managedFieldsEntry }),
})
