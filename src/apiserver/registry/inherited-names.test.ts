/**
 * Property names that JavaScript objects inherit, used as keys in each step of a write: decode, validate, patch, own,
 * encode.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configMaps } from '../../api/core/config/config-map.ts'
import { secrets } from '../../api/core/config/secret.ts'
import { limitRanges } from '../../api/core/quota/limit-range.ts'
import { own, setOwn } from '../../lib/own.ts'
import { decode } from '../../machinery/decode/index.ts'
import { semanticallyEqual } from '../../machinery/equality.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { FieldsV1, KubeObject } from '../../machinery/object.ts'
import { jsonPatch } from '../../machinery/patch/json-patch.ts'
import { mergePatch } from '../../machinery/patch/merge-patch.ts'
import { strategicMergePatch } from '../../machinery/patch/strategic-merge.ts'
import { labelSelectorText, parseLabelSelector } from '../../machinery/selectors/label-selector.ts'
import { fromYaml, toYaml } from '../../machinery/yaml.ts'
import { applyPatch } from '../apply/apply-patch.ts'
import { trackUpdate } from '../apply/managed-fields/track-update.ts'
import { ServedResource } from './served-resource.ts'
import { encode } from './stored-object.ts'

type ConfigMap = KubeObject & { data?: Record<string, string> }

const names = [
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
  'length',
  'name',
  'then',
  'toJSON',
  'caller',
  'arguments',
]

const resource = new ServedResource(configMaps)
const { type } = resource
const now = '2026-01-01T00:00:00Z'

/** JSON text is the reference: in it such a name is an ordinary key. */
const mapText = (data: string): string =>
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"1","uid":"u"},' +
  `"data":{${data}}}`
const mapOf = (data: string): ConfigMap => JSON.parse(mapText(data)) as ConfigMap
const text = (value: unknown): string => JSON.stringify(value)
const dataOf = (object: object): string => text((object as ConfigMap).data)
const fieldsOf = (object: KubeObject, manager: string): FieldsV1 | undefined =>
  object.metadata.managedFields?.find((e) => e.manager === manager)?.fieldsV1

/** The object as it is stored after a write. */
function written(live: ConfigMap | undefined, object: ConfigMap, manager: string): ConfigMap {
  const managedFields = trackUpdate({ live, object, type, manager, apiVersion: 'v1', now })
  return { ...object, metadata: { ...object.metadata, managedFields } }
}

const applied = (live: ConfigMap | undefined, data: string, manager: string, force = false): ConfigMap =>
  applyPatch({
    live,
    applied: JSON.parse(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{${data}}}`),
    type,
    kind: 'ConfigMap',
    apiVersion: 'v1',
    manager,
    force,
    now,
  }).object as ConfigMap

for (const name of names) {
  describe(name, () => {
    const key = text(name)
    const one = `${key}:"1"`
    const with1 = (): ConfigMap => mapOf(`"a":"0",${one}`)
    const without = (): ConfigMap => mapOf('"a":"0"')

    test('is decoded, valid and encoded like any other key', () => {
      const body = mapText(one)
      const { object, strict } = decode(type, body)
      assert.deepEqual(strict, [])
      assert.equal(text(object), body)
      assert.deepEqual(resource.definition.validate?.object?.(object as unknown as ConfigMap), [])
      assert.equal(
        encode(resource, object as unknown as KubeObject).toString(),
        body.replace('"resourceVersion":"1",', ''),
      )
      assert.equal(text(decode(type, JSON.parse(mapText(`${key}:null,"b":"2"`))).object), mapText(`${key}:"","b":"2"`))
      assert.deepEqual(decode(type, mapText(`${one},${one}`)).strict, [`duplicate field "data.${name}"`])
      assert.deepEqual(decode(type, `{${one}}`).unknown, [name])
    })

    test('is one key in data or in binaryData', () => {
      const errors = (object: object) =>
        resource.definition.validate?.object?.(object as ConfigMap).map(({ field }) => field)
      assert.deepEqual(errors({ ...without(), binaryData: JSON.parse(`{${key}:"eA=="}`) }), [])
      assert.deepEqual(errors({ ...with1(), binaryData: JSON.parse(`{${key}:"eA=="}`) }), [`data[${name}]`])
      const secret = JSON.parse(`{"kind":"Secret","apiVersion":"v1","metadata":{},"stringData":{${one}}}`)
      new ServedResource(secrets).applyDefaults(secret)
      assert.equal(dataOf(secret), `{${key}:"MQ=="}`)
      const range = JSON.parse(`{"metadata":{},"spec":{"limits":[{"type":"Container","max":{${one}}}]}}`)
      new ServedResource(limitRanges).applyDefaults(range)
      assert.equal(
        text(range.spec.limits[0]),
        `{"type":"Container","max":{${one}},"default":{${one}},"defaultRequest":{${one}}}`,
      )
    })

    test('makes objects unequal', () => {
      for (const value of ['"1"', '0', '{"a":1}', '[1]']) {
        const x = JSON.parse(`{${key}:${value}}`)
        for (const same of [semanticallyEqual, jsonEqual]) {
          assert.ok(same(x, JSON.parse(text(x))))
          assert.ok(!same(x, {}))
          assert.ok(!same({}, x))
        }
      }
      assert.ok(!jsonEqual(JSON.parse(`{${key}:{}}`), {}))
      assert.ok(!jsonEqual(JSON.parse(`{${key}:{}}`), { other: {} }))
    })

    for (const [patchName, patch] of [
      ['merge patches', mergePatch],
      ['strategic merge patches', (object: object, change: unknown) => strategicMergePatch(object, change, type)],
    ] as const) {
      test(`is set and deleted by ${patchName}`, () => {
        const change = (object: object, value: string): string =>
          dataOf(patch(object, JSON.parse(`{"data":{${key}:${value}}}`)))
        assert.equal(change(without(), '"1"'), `{"a":"0",${one}}`)
        assert.equal(change(with1(), '"2"'), `{"a":"0",${key}:"2"}`)
        assert.equal(change(with1(), 'null'), '{"a":"0"}')
        assert.equal(change(without(), 'null'), '{"a":"0"}')
        assert.equal(change({}, '"1"'), `{${one}}`)
        assert.equal(change(without(), '{"x":null,"y":1}'), `{"a":"0",${key}:{"y":1}}`)
        assert.equal(
          text(patch(JSON.parse(`{${key}:{"a":1}}`), JSON.parse(`{${key}:{"b":2}}`))),
          `{${key}:{"a":1,"b":2}}`,
        )
      })
    }

    test('is set, tested and deleted by JSON patches', () => {
      const path = `/data/${name}`
      const patched = (object: ConfigMap, ...operations: object[]): string => dataOf(jsonPatch(object, operations))
      assert.equal(
        patched(without(), { op: 'add', path, value: '1' }, { op: 'test', path, value: '1' }),
        `{"a":"0",${one}}`,
      )
      assert.equal(patched(with1(), { op: 'replace', path, value: '2' }), `{"a":"0",${key}:"2"}`)
      assert.equal(patched(with1(), { op: 'remove', path }), '{"a":"0"}')
      assert.equal(patched(without(), { op: 'test', path, value: null }), '{"a":"0"}')
      assert.equal(patched(without(), { op: 'move', from: '/data/a', path }), `{${key}:"0"}`)
      assert.equal(patched(with1(), { op: 'copy', from: path, path: '/data/b' }), `{"a":"0",${one},"b":"1"}`)
      assert.equal(
        patched(without(), { op: 'add', path, value: {} }, { op: 'add', path: `${path}/x`, value: 1 }),
        `{"a":"0",${key}:{"x":1}}`,
      )
      for (const operations of [
        { op: 'remove', path },
        { op: 'move', from: path, path: '/data/b' },
        { op: 'add', path: `${path}/x`, value: 1 },
      ])
        assert.throws(() => jsonPatch(without(), [operations]), { message: /rejected our request/ })
      assert.equal(({} as { x?: unknown }).x, undefined)
    })

    test('is owned by the manager that sets it', () => {
      const field = { 'f:data': { '.': {}, [`f:${name}`]: {} } }
      const created = written(undefined, mapOf(one), 'one')
      assert.deepEqual(fieldsOf(created, 'one'), field)
      const changed = written(created, { ...created, data: mapOf(`${key}:"2"`).data! }, 'two')
      assert.deepEqual(
        [fieldsOf(changed, 'one'), fieldsOf(changed, 'two')],
        [{ 'f:data': {} }, { 'f:data': { [`f:${name}`]: {} } }],
      )
      const live = written(undefined, without(), 'one')
      const joined = written(live, { ...live, data: with1().data! }, 'two')
      assert.deepEqual(fieldsOf(joined, 'two'), { 'f:data': { [`f:${name}`]: {} } })
      assert.equal(fieldsOf(written(joined, { ...joined, data: without().data! }, 'one'), 'two'), undefined)
    })

    test('is applied, conflicts and is pruned', () => {
      const created = applied(undefined, `"a":"0",${one}`, 'one')
      assert.equal(dataOf(created), `{"a":"0",${one}}`)
      assert.deepEqual(fieldsOf(created, 'one'), { 'f:data': { 'f:a': {}, [`f:${name}`]: {} } })
      assert.throws(() => applied(created, `${key}:"2"`, 'two'), {
        message: /^Apply failed with 1 conflict: conflict with "one": \.data\./,
      })
      const forced = applied(created, `${key}:"2"`, 'two', true)
      assert.equal(dataOf(forced), `{"a":"0",${key}:"2"}`)
      assert.deepEqual(fieldsOf(forced, 'two'), { 'f:data': { [`f:${name}`]: {} } })
      assert.equal(dataOf(applied(created, '"a":"0"', 'one')), '{"a":"0"}')
      assert.equal(dataOf(applied(applied(undefined, '"a":"0"', 'one'), one, 'two')), `{"a":"0",${one}}`)
    })

    test('is a key in YAML', () => {
      assert.equal(
        text(fromYaml(`${key}: 1\na: {${key}: x}\n`)),
        text(JSON.parse(name < 'a' ? `{${key}:1,"a":{${key}:"x"}}` : `{"a":{${key}:"x"},${key}:1}`)),
      )
      assert.equal(text(fromYaml(toYaml(with1()))), text(fromYaml(mapText(`"a":"0",${one}`))))
    })

    test('is a label key only if it is a valid one', () => {
      assert.equal(labelSelectorText({ matchExpressions: [{ key: 'a', operator: name, values: ['b'] }] }), '<error>')
      if (name.startsWith('_')) return void assert.throws(() => parseLabelSelector(name), { code: 400 })
      const labels = JSON.parse(`{${one}}`)
      assert.ok(parseLabelSelector(name).matches(labels))
      assert.ok(parseLabelSelector(`${name}=1`).matches(labels))
      assert.ok(!parseLabelSelector(name).matches({}))
      assert.ok(parseLabelSelector(`!${name},${name}!=1`).matches({}))
    })

    test('is read and set as an own property', () => {
      const object: Record<string, unknown> = {}
      assert.equal(own(object, name), undefined)
      setOwn(object, name, null)
      assert.equal(text(object), `{${key}:null}`)
      assert.equal(own(object, name), null)
      assert.equal(Object.getPrototypeOf(object), Object.prototype)
    })
  })
}

test('maps with such keys are not accepted as strings', () => {
  for (const yaml of ['? {toString: x}\n: v\n', '? [{valueOf: x}]\n: v\n'])
    assert.throws(() => fromYaml(yaml), { name: 'YamlError' })
  const body = JSON.parse('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":{"toString":"x","valueOf":"x"}}}')
  assert.throws(
    () =>
      applyPatch({
        applied: body,
        live: undefined,
        type,
        kind: 'ConfigMap',
        apiVersion: 'v1',
        manager: 'm',
        force: false,
        now,
      }),
    {
      name: 'StatusError',
    },
  )
})
