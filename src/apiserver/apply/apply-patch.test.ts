import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stack } from '../../machinery/fields/sample-types.fixture.ts'
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../../machinery/object.ts'
import type { Status, StatusError } from '../../machinery/status-error.ts'
import { applyPatch } from './apply-patch.ts'
import { managedFieldsFromScale, scaleManagedFields } from './managed-fields/scale.ts'
import { trackUpdate } from './managed-fields/track-update.ts'

type Stack = KubeObject & { spec?: Record<string, unknown>; data?: Record<string, string> | null }
const apiVersion = 'example.com/v1'
const kind = 'Stack'
let clock = 0
const now = () => new Date(1_700_000_000_000 + 1000 * clock++).toISOString().replace('.000', '')
const body = (spec?: object, more: object = {}): Stack => ({
  apiVersion,
  kind,
  metadata: { name: 's' },
  ...(spec && { spec: spec as Record<string, unknown> }),
  ...more,
})

/** Decoding drops nulls. */
const decoded = <T>(value: T): T => JSON.parse(JSON.stringify(value), (_, v) => v ?? undefined)
const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}

function apply(live: Stack | undefined, manager: string, applied: unknown, more: object = {}): Stack {
  const { object } = applyPatch({
    live: freeze(live),
    applied: freeze(applied),
    type: stack,
    kind,
    apiVersion,
    manager,
    force: false,
    now: now(),
    ...more,
  })
  return { ...decoded(object as Stack), metadata: { ...decoded(object.metadata), uid: 'u' } }
}
const force = (live: Stack, manager: string, applied: unknown) => apply(live, manager, applied, { force: true })
function update(live: Stack | undefined, object: Stack, manager: string): Stack {
  const managedFields = trackUpdate({ live, object, type: stack, manager, apiVersion, now: now() })
  return { ...object, metadata: { ...object.metadata, uid: 'u', managedFields } }
}
const refused = (run: () => unknown): Status => {
  try {
    run()
  } catch (error) {
    return (error as StatusError).status
  }
  throw new Error('was not refused')
}
const fields = ({ status, details, message, code }: Status & { details?: unknown }) => ({
  status,
  details,
  message,
  code,
})
const owners = ({ metadata }: KubeObject): Record<string, FieldsV1 | undefined> =>
  Object.fromEntries((metadata.managedFields ?? []).map((e) => [`${e.manager}/${e.operation}`, e.fieldsV1]))
const spec = (set: object) => ({ 'f:spec': set as FieldsV1 })
const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

test('applying items in another order changes their order', () => {
  const ports = (...numbers: number[]) => body({ ports: numbers.map((port) => ({ port })) })
  const first = apply(undefined, 'one', ports(1, 2, 3))
  const second = apply(first, 'two', ports(3, 1))
  assert.deepEqual(second.spec?.ports, [{ port: 2 }, { port: 3 }, { port: 1 }])
  const third = apply(second, 'two', ports(1, 3))
  assert.deepEqual(third.spec?.ports, [{ port: 2 }, { port: 1 }, { port: 3 }])
  assert.notEqual(third.metadata.managedFields?.[1]?.time, second.metadata.managedFields?.[1]?.time)
  assert.deepEqual(apply(third, 'two', ports(1, 3)).metadata.managedFields, third.metadata.managedFields)
})

test('applying creates an object: applied fields are owned, defaults and names are not', () => {
  const created = apply(
    undefined,
    'one',
    body({
      replicas: 1,
      ports: [{ port: 80, name: 'web' }],
      tags: ['a', 'b'],
      args: ['x'],
      options: { k: '1' },
      limits: { cpu: '1' },
    }),
  )
  assert.deepEqual(owners(created), {
    'one/Apply': spec({
      'f:args': {},
      'f:limits': {},
      'f:options': { 'f:k': {} },
      'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } },
      'f:replicas': {},
      'f:tags': { 'v:"a"': {}, 'v:"b"': {} },
    }),
  })
  assert.equal(created.metadata.name, 's')
})

test('applying the same fields a second time changes nothing', () => {
  const one = apply(undefined, 'one', body({ replicas: 1 }))
  const { object, changed } = applyPatch({
    live: one,
    applied: body({ replicas: 1 }),
    type: stack,
    kind,
    apiVersion,
    manager: 'one',
    force: false,
    now: now(),
  })
  assert.equal(changed, false)
  assert.deepEqual(object, one)
})

test('another manager adds to maps and sets, and co-owns fields with equal values', () => {
  const one = apply(
    undefined,
    'one',
    body({ ports: [{ port: 80, protocol: 'TCP' }], tags: ['a', 'b'], options: { k: '1' } }),
  )
  const two = apply(
    one,
    'two',
    body({ ports: [{ port: 443 }, { port: 80, protocol: 'UDP' }], tags: ['b', 'c'], options: { m: '2', k: '1' } }),
  )
  assert.deepEqual(two.spec, {
    ports: [{ port: 80, protocol: 'TCP' }, { port: 443 }, { port: 80, protocol: 'UDP' }],
    tags: ['a', 'b', 'c'],
    options: { k: '1', m: '2' },
  })
  assert.deepEqual(owners(two)['one/Apply'], owners(one)['one/Apply'])
})

test('conflicts name each field, leaves before nested fields, and change nothing', () => {
  const one = apply(
    undefined,
    'one',
    body({ replicas: 1, ports: [{ port: 80, name: 'web' }], options: { k: '1' }, limits: { cpu: '1' } }),
  )
  const status = refused(() =>
    apply(
      one,
      'two',
      body({ replicas: 2, ports: [{ port: 80, name: 'http' }], options: { k: '9' }, limits: { memory: '1Gi' } }),
    ),
  )
  const paths = ['.spec.limits', '.spec.replicas', '.spec.options.k', '.spec.ports[port=80,protocol="TCP"].name']
  assert.deepEqual(fields(status), {
    status: 'Failure',
    code: 409,
    details: {
      causes: paths.map((field) => ({ reason: 'FieldManagerConflict', message: 'conflict with "one"', field })),
    },
    message: `Apply failed with 4 conflicts: conflicts with "one":\n${paths.map((path) => `- ${path}`).join('\n')}`,
  })
})

test('a single conflict is one line with version and subresource of the other manager', () => {
  const live: Stack = body(
    { replicas: 1 },
    {
      metadata: {
        name: 's',
        uid: 'u',
        managedFields: [
          {
            manager: 'scaler',
            operation: 'Update',
            apiVersion,
            subresource: 'scale',
            fieldsType: 'FieldsV1',
            fieldsV1: spec({ 'f:replicas': {} }),
          },
        ],
      },
    },
  )
  assert.equal(
    refused(() => apply(live, 'one', body({ replicas: 2 }))).message,
    `Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using ${apiVersion}: .spec.replicas`,
  )
})

test('force takes over fields; a field that its last owner no longer applies is removed', () => {
  const one = apply(undefined, 'one', body({ replicas: 1, tags: ['a', 'b'], options: { k: '1' } }))
  const two = force(one, 'two', body({ replicas: 2, tags: ['b'] }))
  assert.deepEqual(owners(two), {
    'one/Apply': spec({ 'f:options': { 'f:k': {} }, 'f:tags': { 'v:"a"': {}, 'v:"b"': {} } }),
    'two/Apply': spec({ 'f:replicas': {}, 'f:tags': { 'v:"b"': {} } }),
  })
  const three = apply(two, 'one', body({ tags: ['a'] }))
  assert.deepEqual(three.spec, { replicas: 2, tags: ['a', 'b'] })
  assert.deepEqual(apply(three, 'two', body()).spec, { tags: ['a'] })
})

test('a map that an updater owns remains when its last key is removed', () => {
  const created = update(undefined, body(undefined, { data: { k: 'created' } }), 'same')
  assert.equal(
    refused(() => apply(created, 'same', body(undefined, { data: { k: 'applied' } }))).message,
    `Apply failed with 1 conflict: conflict with "same" using ${apiVersion}: .data.k`,
  )
  const forced = force(created, 'same', body(undefined, { data: { k: 'applied' } }))
  assert.deepEqual(owners(forced), { 'same/Apply': { 'f:data': { 'f:k': {} } }, 'same/Update': { 'f:data': {} } })
  const given = apply(forced, 'same', body())
  assert.equal(given.data, undefined)
  assert.deepEqual(owners(given), { 'same/Update': { 'f:data': {} } })
})

test('a field that an updater owns remains when an applier gives it up', () => {
  const one = apply(undefined, 'one', body({ replicas: 1 }))
  const scaled = update(one, { ...one, spec: { replicas: 3 } }, 'scaler')
  const shared = apply(scaled, 'one', body({ replicas: 3 }))
  assert.deepEqual(apply(shared, 'one', body()).spec, { replicas: 3 })
})

test('the fields of an object without managers go to before-first-apply', () => {
  const live = body({ replicas: 1, options: { a: '1' } })
  const one = apply({ ...live, metadata: { ...live.metadata, uid: 'u' } }, 'one', body({ options: { b: '1' } }))
  assert.deepEqual(owners(one), {
    'before-first-apply/Update': spec({ 'f:options': { '.': {}, 'f:a': {} }, 'f:replicas': {} }),
    'one/Apply': spec({ 'f:options': { 'f:b': {} } }),
  })
})

test('fields that the server resets are not owned', () => {
  const one = apply(undefined, 'controller', body({ replicas: 1 }, { status: { phase: 'Up' } }), {
    subresource: 'status',
    resetFields: ['spec', 'metadata'],
  })
  assert.deepEqual(
    one.metadata.managedFields?.map(({ subresource, fieldsV1 }) => [subresource, fieldsV1]),
    [['status', { 'f:status': { 'f:phase': {} } }]],
  )
})

test('a map that has become atomic is owned as a whole', () => {
  const one = apply(undefined, 'one', body({ limits: { cpu: '1' }, replicas: 1 }))
  const managedFields = one.metadata.managedFields?.map((entry) => ({
    ...entry,
    fieldsV1: spec({ 'f:limits': { 'f:cpu': {} }, 'f:replicas': {} }),
  }))
  const live = { ...one, metadata: { ...one.metadata, managedFields } }
  const conflict = refused(() => apply(live, 'two', body({ limits: { memory: '1Gi' } })))
  assert.equal(conflict.message, 'Apply failed with 1 conflict: conflict with "one": .spec.limits')
  assert.deepEqual(owners(force(live, 'two', body({ limits: { memory: '1Gi' } }))), {
    'one/Apply': spec({ 'f:replicas': {} }),
    'two/Apply': spec({ 'f:limits': {} }),
  })
  assert.equal(apply(live, 'one', body({ replicas: 1 })).spec?.limits, undefined)
})

test('an applier of a removed version has no fields to give up', () => {
  const one = apply(undefined, 'one', body({ options: { k: '1' }, replicas: 1 }))
  const managedFields = one.metadata.managedFields?.map((entry) => ({ ...entry, apiVersion: 'example.com/v1alpha1' }))
  const live = { ...one, metadata: { ...one.metadata, managedFields } }
  assert.deepEqual(apply(live, 'one', body({ replicas: 1 }), { otherVersion: () => undefined }).spec, {
    options: { k: '1' },
    replicas: 1,
  })
})

test('a null list key is a distinct key, an absent one has its default', () => {
  const ports = (...list: object[]) =>
    owners(apply(undefined, 'one', body({ ports: list })))['one/Apply']?.['f:spec']?.['f:ports']
  assert.deepEqual(Object.keys(ports({ port: 1, protocol: null }) ?? {}), ['k:{"port":1,"protocol":null}'])
  assert.deepEqual(Object.keys(ports({ port: 1 }) ?? {}), ['k:{"port":1,"protocol":"TCP"}'])
  assert.deepEqual(Object.keys(ports({ port: 1 }, { port: 1, protocol: null }) ?? {}).length, 2)
})

test('bodies of another kind or with managedFields are rejected', () => {
  const message = (applied: unknown) => refused(() => apply(undefined, 'one', applied)).message
  assert.equal(message({ kind, metadata: {} }), 'invalid object type: /, Kind=Stack')
  assert.equal(message({ apiVersion: 'v1', metadata: {} }), 'invalid object type: /v1, Kind=')
  assert.equal(message({ ...body(), kind: 'Other' }), 'invalid object type: example.com/v1, Kind=Other')
  for (const managedFields of [[], [{}]])
    assert.equal(message(body({}, { metadata: { name: 's', managedFields } })), 'metadata.managedFields must be nil')
})

test('a body that breaks the schema is a 500 without a reason', () => {
  const status = refused(() => apply(undefined, 'one', body({ nothing: 1 })))
  assert.deepEqual(
    [status.code, status.reason, status.message],
    [
      500,
      undefined,
      'failed to create typed patch object (/s; example.com/v1, Kind=Stack): .spec.nothing: field not declared ' +
        'in schema',
    ],
  )
})

const lastOf = (object: Stack): Stack => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [annotation]: `${JSON.stringify(object)}\n` } },
})

test('kubectl takes over from client-side apply if its annotation is current, and rewrites it', () => {
  const created = update(undefined, lastOf(body({ options: { k: '1', m: '1' } })), 'kubectl-client-side-apply')
  assert.match(
    refused(() => apply(created, 'other', body({ options: { k: '2' } }))).message ?? '',
    /conflict with "kubectl-client-side-apply" using/,
  )
  const applied = apply(created, 'kubectl', body({ options: { k: '2', m: '1' } }))
  assert.deepEqual(applied.spec, { options: { k: '2', m: '1' } })
  assert.equal(
    applied.metadata.annotations?.[annotation],
    `{"apiVersion":"example.com/v1","kind":"Stack","metadata":{"name":"s"},"spec":{"options":{"k":"2","m":"1"}}}\n`,
  )

  const edited = update(created, { ...created, spec: { options: { k: '1', m: '5' } } }, 'editor')
  const status = refused(() => apply(edited, 'kubectl', body({ options: { k: '2', m: '2' } })))
  assert.equal(
    status.message,
    'Apply failed with 1 conflict: conflict with "editor" using example.com/v1: .spec.options.m',
  )
  assert.deepEqual(apply(edited, 'kubectl', body({ options: { k: '2', m: '5' } })).spec, {
    options: { k: '2', m: '5' },
  })
})

test('the replicas of an object and of its scale have the same owners', () => {
  const path = { apiVersion, path: 'spec.replicas' }
  const one = apply(undefined, 'one', body({ replicas: 1, mode: 'x' })).metadata.managedFields
  const ofScale = scaleManagedFields(one, path)
  assert.deepEqual(
    ofScale?.map((e: ManagedFieldsEntry) => [e.manager, e.apiVersion, e.fieldsV1]),
    [['one', 'autoscaling/v1', { 'f:spec': { 'f:replicas': {} } }]],
  )
  assert.deepEqual(managedFieldsFromScale(one, ofScale, path), one)
  const scaled: ManagedFieldsEntry[] = [
    {
      manager: 'scaler',
      operation: 'Update',
      apiVersion: 'autoscaling/v1',
      subresource: 'scale',
      time: now(),
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    },
  ]
  const after = managedFieldsFromScale(one, scaled, path)
  assert.deepEqual(
    after?.map((e) => [e.manager, e.apiVersion, e.subresource, e.fieldsV1]),
    [
      ['one', apiVersion, undefined, { 'f:spec': { 'f:mode': {} } }],
      ['scaler', apiVersion, 'scale', { 'f:spec': { 'f:replicas': {} } }],
    ],
  )
})
