import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaType } from '../../../api/schema/index.ts'
import { stack } from '../../../machinery/fields/sample-types.fixture.ts'
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../../../machinery/object.ts'
import { fieldManagerErrors, managerName } from './field-manager.ts'
import { trackUpdate } from './track-update.ts'
import { isUnchanged } from './unchanged.ts'

type ConfigMap = KubeObject & { data?: Record<string, string> }
const type = schemaType('V1ConfigMap')
let clock = 0
const now = () => new Date(1_700_000_000_000 + 1000 * clock++).toISOString().replace('.000', '')
const cm = (data?: Record<string, string>, metadata: object = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  ...(data && { data }),
})

/** The object as it is stored after the write. */
function write(live: ConfigMap | undefined, object: ConfigMap, manager = 'replay', more: object = {}): ConfigMap {
  const managedFields = trackUpdate({ live, object, type, manager, apiVersion: 'v1', now: now(), ...more })
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, uid: 'u', ...(managedFields && { managedFields }) } }
}
const owners = ({ metadata }: KubeObject): Record<string, FieldsV1 | undefined> =>
  Object.fromEntries(
    (metadata.managedFields ?? []).map((e) => [
      [e.manager, e.operation, e.subresource].filter(Boolean).join('/'),
      e.fieldsV1,
    ]),
  )
const change = (live: ConfigMap, data: Record<string, string>, manager: string, more?: object) =>
  write(live, { ...live, data }, manager, more)
const entry = (more: object): ManagedFieldsEntry => ({
  manager: 'x',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2020-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:k': {} } },
  ...more,
})

test('the creator owns the fields of an object and the maps around them, but not its name', () => {
  const created = write(
    undefined,
    cm({ k: 'v', 'file.txt': 'x' }, { namespace: 'n', labels: { l: '1' }, finalizers: ['example.com/f'] }),
  )
  assert.deepEqual(created.metadata.managedFields, [
    {
      manager: 'replay',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2023-11-14T22:13:20Z',
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:data': { '.': {}, 'f:file.txt': {}, 'f:k': {} },
        'f:metadata': { 'f:finalizers': { '.': {}, 'v:"example.com/f"': {} }, 'f:labels': { '.': {}, 'f:l': {} } },
      },
    },
  ])
})

test('the manager that duplicates an item of a set or map, or removes the duplicate, owns the item', () => {
  const write = (live: KubeObject | undefined, spec: object, manager: string): KubeObject => {
    const object: KubeObject = {
      apiVersion: 'example.com/v1',
      kind: 'Stack',
      metadata: { name: 's' },
      spec,
    } as KubeObject
    const managedFields = trackUpdate({ live, object, type: stack, manager, apiVersion: 'example.com/v1', now: now() })
    return { ...object, metadata: { ...object.metadata, managedFields } }
  }
  const ownersAfter = (first: object, second: object) => {
    const of = owners(write(write(undefined, first, 'one'), second, 'two'))
    return [of['one/Update'], of['two/Update']].map((fields) => fields?.['f:spec'])
  }
  const both = [{ tags: ['a', 'b'] }, { tags: ['a', 'a', 'b'] }] as const
  for (const [first, second] of [both, [both[1], both[0]] as const])
    assert.deepEqual(ownersAfter(first, second), [
      { 'f:tags': { '.': {}, 'v:"b"': {} } },
      { 'f:tags': { 'v:"a"': {} } },
    ])
  const port = { port: 1, protocol: 'TCP' }
  assert.deepEqual(ownersAfter({ ports: [port] }, { ports: [port, { ...port, name: 'x' }] }), [
    { 'f:ports': {} },
    { 'f:ports': { 'k:{"port":1,"protocol":"TCP"}': {} } },
  ])
})

test('generateName is owned; an object without set fields has no owner', () => {
  assert.deepEqual(owners(write(undefined, cm(undefined, { generateName: 'a-' }))), {
    'replay/Update': { 'f:metadata': { 'f:generateName': {} } },
  })
  assert.equal(write(undefined, cm()).metadata.managedFields, undefined)
})

test('structures that Go always writes are not owned themselves', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', resources: {} }], securityContext: {} },
    status: { phase: 'Pending' },
  }
  const entries = trackUpdate({
    object: pod,
    type: schemaType('V1Pod'),
    manager: 'm',
    apiVersion: 'v1',
    now: now(),
    resetFields: ['status'],
  })
  assert.deepEqual(entries?.[0]?.fieldsV1, {
    'f:spec': {
      'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {}, 'f:resources': {} } },
      'f:securityContext': {},
    },
  })
})

test('the manager that changes a field owns it; a removed field has no owner', () => {
  const one = write(undefined, cm({ k: 'v', m: 'v' }), 'one')
  const two = change(one, { k: 'w', m: 'v', added: '1' }, 'two')
  assert.deepEqual(owners(two), {
    'one/Update': { 'f:data': { '.': {}, 'f:m': {} } },
    'two/Update': { 'f:data': { 'f:added': {}, 'f:k': {} } },
  })
  const three = change(two, { m: 'v', added: '1' }, 'three')
  assert.deepEqual(owners(three), {
    'one/Update': { 'f:data': { '.': {}, 'f:m': {} } },
    'two/Update': { 'f:data': { 'f:added': {} } },
  })
})

test('a write that changes nothing retains the entries and their times', () => {
  const one = write(undefined, cm({ k: 'v' }), 'one')
  const same = trackUpdate({
    live: one,
    object: { ...structuredClone(one) },
    type,
    manager: 'two',
    apiVersion: 'v1',
    now: now(),
  })
  assert.equal(same, one.metadata.managedFields)
})

test('one entry per manager, operation, version and subresource, with the time of its last change', () => {
  const one = write(undefined, cm({ k: 'v' }), 'one')
  const again = change(one, { k: 'w' }, 'one')
  assert.equal(again.metadata.managedFields?.length, 1)
  assert.notEqual(again.metadata.managedFields?.[0]?.time, one.metadata.managedFields?.[0]?.time)
  const status = change(again, { k: 'x' }, 'one', { subresource: 'status' })
  assert.deepEqual(owners(status), { 'one/Update': { 'f:data': {} }, 'one/Update/status': { 'f:data': { 'f:k': {} } } })
})

test('missing managedFields are retained, edited ones are stored, unreadable ones are ignored', () => {
  const live = write(undefined, cm({ k: 'v' }), 'one')
  const send = (managedFields: unknown) =>
    write(
      live,
      { ...live, metadata: { ...live.metadata, managedFields: managedFields as ManagedFieldsEntry[] } },
      'two',
    )
  assert.deepEqual(owners(send(undefined)), owners(live))
  assert.deepEqual(owners(send([entry({ manager: 'edited' })])), { 'edited/Update': { 'f:data': { 'f:k': {} } } })
  for (const wrong of [
    { operation: 'Other' },
    { fieldsType: 'FieldsV2' },
    { fieldsType: undefined },
    { apiVersion: '' },
    { fieldsV1: { nonsense: {} } },
  ])
    assert.deepEqual(owners(send([entry(wrong)])), owners(live))
})

test('emptying managedFields removes all managers, and later updates add none', () => {
  const live = write(undefined, cm({ k: 'v' }), 'one')
  for (const managedFields of [[], [{}]]) {
    const reset = write(live, { ...live, data: { k: 'w' }, metadata: { ...live.metadata, managedFields } }, 'two')
    assert.equal(reset.metadata.managedFields, undefined)
    assert.equal(change(reset, { k: 'x' }, 'two').metadata.managedFields, undefined)
  }
})

test('a subresource cannot edit managedFields', () => {
  const live = write(undefined, cm({ k: 'v' }), 'one')
  const sent = write(
    live,
    { ...live, metadata: { ...live.metadata, managedFields: [entry({ manager: 'edited' })] } },
    'two',
    { subresource: 'status' },
  )
  assert.deepEqual(owners(sent), owners(live))
})

test('the oldest of more than ten updaters become ancient-changes', () => {
  let object = write(undefined, cm({ k: 'v' }), 'aaa')
  for (let i = 0; i < 12; i++)
    object = change(object, { ...object.data, [`k${i}`]: 'v' }, `m${String(i).padStart(2, '0')}`)
  const names = object.metadata.managedFields?.map(({ manager }) => manager)
  assert.deepEqual(names, ['ancient-changes', 'm03', 'm04', 'm05', 'm06', 'm07', 'm08', 'm09', 'm10', 'm11'])
  assert.deepEqual(owners(object)['ancient-changes/Update'], {
    'f:data': { '.': {}, 'f:k': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} },
  })
})

test('a field that the server resets is removed from its previous owner', () => {
  const live = cm(
    { k: 'v' },
    { uid: 'u', managedFields: [entry({ manager: 'me', fieldsV1: { 'f:data': { 'f:k': {} }, 'f:immutable': {} } })] },
  )
  assert.deepEqual(owners(change(live, { k: 'v' }, 'me', { resetFields: ['immutable'] })), {
    'me/Update': { 'f:data': { 'f:k': {} } },
  })
})

test('entries of a removed version are dropped', () => {
  const live = cm(
    { k: 'v' },
    { uid: 'u', managedFields: [entry({ apiVersion: 'v1alpha1', manager: 'old' }), entry({ manager: 'new' })] },
  )
  const after = change(live, { k: 'v', m: '1' }, 'me', { otherVersion: () => undefined })
  assert.deepEqual(Object.keys(owners(after)).sort(), ['me/Update', 'new/Update'])
})

test('managedFields that differ in times only count as unchanged', () => {
  const old = cm({ k: 'v' }, { resourceVersion: '1', managedFields: [entry({})] })
  const object = cm({ k: 'v' }, { resourceVersion: '1', managedFields: [entry({ time: '2021-01-01T00:00:00Z' })] })
  assert.equal(isUnchanged(object, old), true)
  assert.equal(isUnchanged(cm({ k: 'w' }, { managedFields: [entry({})] }), old), false)
})

test("a manager's name comes from the request, or from the user agent up to its slash", () => {
  assert.equal(managerName('given', 'kubectl/v1'), 'given')
  assert.equal(managerName(undefined, 'agent/v1.2 (linux)'), 'agent')
  assert.equal(managerName('', 'no\u0000slash'), 'noslash')
  assert.equal(managerName(undefined, undefined), 'unknown')
  assert.equal(managerName(undefined, `${'é'.repeat(100)}/1`), 'é'.repeat(64))
})

test('a manager must be printable and not too long', () => {
  assert.deepEqual(fieldManagerErrors('m'.repeat(128)), [])
  assert.deepEqual(fieldManagerErrors('a\nb'), [
    {
      reason: 'FieldValueInvalid',
      field: 'fieldManager',
      message: 'Invalid value: "a\\nb": invalid character U+000A (at position 1)',
    },
  ])
  assert.deepEqual(
    fieldManagerErrors('m'.repeat(129)).map(({ reason }) => reason),
    ['FieldValueTooLong'],
  )
})
