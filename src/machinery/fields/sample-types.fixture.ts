/** Types for the tests of fields, patches and apply: a kind with every type of list and map. */
import type { Field, FieldType, StructType } from '../schema.ts'

const string: FieldType = { kind: 'string' }
const integer: FieldType = { kind: 'integer', format: 'int32' }

/** Creates a field with the given properties. */
export const field = (type: FieldType, facts: Partial<Field> = {}): Field => ({ type, keepsEmpty: false, ...facts })

/** Creates a struct type with these fields. */
export const struct = (goName: string, fields: Record<string, Field>, facts: Partial<StructType> = {}): StructType => ({
  kind: 'struct',
  definition: `test.${goName}`,
  goName,
  fields: new Map(Object.entries(fields)),
  required: new Set(),
  atomic: false,
  groupVersionKinds: [],
  ...facts,
})

const list = (items: FieldType): FieldType => ({ kind: 'array', items })
const map = (values: FieldType): FieldType => ({ kind: 'map', values })

const port = struct('Port', {
  port: field(integer),
  protocol: field(string, { default: 'TCP' }),
  name: field(string),
  targetPort: field({ kind: 'int-or-string' }),
})
const env = struct('Env', { name: field(string), value: field(string), valueFrom: field({ kind: 'any' }) })
const container = struct('Container', {
  name: field(string, { written: true }),
  image: field(string),
  args: field(list(string), { listType: 'atomic' }),
  env: field(list(env), { patchStrategy: ['merge'], patchMergeKey: 'name' }),
  ports: field(list(port), {
    listType: 'map',
    listMapKeys: ['port', 'protocol'],
    patchStrategy: ['merge'],
    patchMergeKey: 'port',
  }),
  resources: field(struct('Resources', { limits: field(map({ kind: 'quantity' })) }), { written: true }),
})
const volume = struct('Volume', {
  name: field(string),
  emptyDir: field(struct('EmptyDir', {})),
  secret: field(struct('Secret', { secretName: field(string) })),
})

const metadata = struct('ObjectMeta', {
  name: field(string),
  namespace: field(string),
  uid: field(string),
  resourceVersion: field(string),
  labels: field(map(string)),
  annotations: field(map(string)),
  finalizers: field(list(string), { listType: 'set', patchStrategy: ['merge'] }),
  managedFields: field({ kind: 'any' }),
})

const spec = struct('StackSpec', {
  replicas: field(integer),
  mode: field(string),
  paused: field({ kind: 'boolean' }),
  containers: field(list(container), {
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: ['merge'],
    patchMergeKey: 'name',
    written: true,
  }),
  volumes: field(list(volume), {
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: ['merge', 'retainKeys'],
    patchMergeKey: 'name',
  }),
  ports: field(list(port), {
    listType: 'map',
    listMapKeys: ['port', 'protocol'],
    patchStrategy: ['merge'],
    patchMergeKey: 'port',
  }),
  tags: field(list(string), { listType: 'set' }),
  args: field(list(string)),
  options: field(map(string)),
  limits: field(map(string), { mapType: 'atomic' }),
  selector: field(struct('Selector', { matchLabels: field(map(string)) }, { atomic: true }), {
    patchStrategy: ['replace'],
  }),
  free: field({ kind: 'any' }),
  loose: field({ kind: 'any', deduced: true }),
})

/** `example.com/v1`, kind Stack. */
export const stack: StructType = struct('Stack', {
  apiVersion: field(string),
  kind: field(string),
  metadata: field(metadata, { written: true }),
  spec: field(spec, { written: true }),
  data: field(map(string)),
  status: field(struct('StackStatus', { phase: field(string), replicas: field(integer) }), { written: true }),
})
