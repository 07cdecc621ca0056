import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../object.ts'
import { managedFieldsText, parseObject, parseWithSharedFields } from './fields-cache.ts'

const entry = (manager: string, fieldsV1: FieldsV1, subresource?: string): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...(subresource && { subresource }),
})
const textOf = (entries: ManagedFieldsEntry[], rest = ''): string =>
  `{"kind":"A","apiVersion":"v1","metadata":{"name":"a","managedFields":${managedFieldsText(entries)}}${rest}}`
const setsOf = ({ metadata }: KubeObject) => metadata.managedFields?.map(({ fieldsV1 }) => fieldsV1)

test('cached field sets are shared, at any index of managedFields', () => {
  const sets: FieldsV1[] = [
    { 'f:spec': { 'f:a': {} } },
    { 'f:status': { 'f:b': {} } },
    { 'f:metadata': { 'f:labels': { '.': {}, 'f:]': {} } } },
  ]
  const entries = [entry('a', sets[0]!), entry('b', sets[1]!, 'status'), entry('c', sets[2]!, 'status')]
  for (const some of [entries, entries.slice(0, 2), [entries[1]!], [...entries].reverse()]) {
    const text = textOf(some)
    const object = parseObject(text)
    assert.deepEqual(object, JSON.parse(text))
    for (const [i, set] of setsOf(object)!.entries()) assert.equal(set, some[i]!.fieldsV1)
  }
})

test('uncached sets, and other texts that look like cached sets, are parsed normally', () => {
  const known = entry('a', { 'f:spec': { 'f:known': {} } })
  const unknown = JSON.stringify([known, entry('b', { 'f:spec': { 'v:"}},{\\"x"': {}, 'f:}]': {}, 'f:known': {} } })])
  const entries = managedFieldsText([known])
  const texts = [
    `{"metadata":{"managedFields":${unknown}}}`,
    `{"metadata":{"managedFields":[]},"spec":{"managedFields":${entries}}}`,
    `{"metadata":{"annotations":{"x":${JSON.stringify(entries)}}},"spec":{"fieldsV1":0}}`,
    `{"metadata":{"managedFields":${entries}},"spec":{"template":{"metadata":{"managedFields":${entries}}}}}`,
  ]
  for (const text of texts) assert.deepEqual(parseObject(text), JSON.parse(text))
})

test('parseWithSharedFields returns the same values and errors as JSON.parse', () => {
  const entries = managedFieldsText([entry('a', { 'f:spec': { 'f:sent': {} } })])
  const texts = [
    `{"metadata":{"managedFields":${entries}}}`,
    `{"metadata":{"managedFields":[null,${entries.slice(1)}}}`,
    `{"metadata":{"managedFields":${entries}},"metadata":null}`,
    `{"metadata":{"managedFields":${entries},"managedFields":[{"fieldsV1":0}]}}`,
    entries,
  ]
  for (const text of texts) assert.deepEqual(parseWithSharedFields(text), JSON.parse(text))
  for (const text of [
    `{"metadata":{"managedFields":${entries}}`,
    `${entries},`,
    `{"metadata":{"managedFields":${entries}}}}`,
  ]) {
    let message = ''
    try {
      JSON.parse(text)
    } catch (error) {
      message = (error as Error).message
    }
    assert.throws(() => parseWithSharedFields(text), { name: 'SyntaxError', message })
  }
})

test('a text with many matches that are not sets is parsed in linear time', () => {
  const one = '"fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}'
  const many = JSON.stringify(Array.from({ length: 50_000 }, (_, i) => [`n${i}`, {}])).replaceAll('{}', `{${one}}`)
  assert.deepEqual(parseWithSharedFields(many), JSON.parse(many))
})

test('managedFieldsText writes the same JSON as JSON.stringify, also for strings like its markers', () => {
  const entries = [entry('"fieldsV1":0', { 'f:"fieldsV1":0': {} }), { ...entry('b', {}), fieldsV1: undefined }]
  assert.deepEqual(JSON.parse(managedFieldsText(entries)), JSON.parse(JSON.stringify(entries)))
})
