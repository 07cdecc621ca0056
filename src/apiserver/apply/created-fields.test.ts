import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaType } from '../../api/schema/index.ts'
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { createdFields } from './created-fields.ts'
import { trackUpdate } from './track-update.ts'

const type = schemaType('V1Pod')
const pod = (name: string, spec: Record<string, unknown>, labels?: Record<string, string>): Unstructured => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, ...(labels && { labels }) },
  spec,
})
const fieldsOf = (object: KubeObject): string =>
  JSON.stringify(trackUpdate({ object, type, manager: 'm', apiVersion: 'v1', now: '2026-01-01T00:00:00Z' })?.map(({ fieldsV1 }) => fieldsV1))

test('objects of one shape share their fields, whatever their values', () => {
  let computed = 0
  const fields = { 'f:spec': {} }
  const compute = () => {
    computed++
    return fields
  }
  const get = (name: string) => createdFields(pod(name, { containers: [{ name: 'c', image: name }] }), type, ['a'], compute)
  assert.equal(get('one'), get('two'))
  assert.equal(computed, 1)
})

test('other labels, list keys or empty values are other shapes', () => {
  const variants = [
    pod('a', { containers: [{ name: 'c', image: 'i' }] }),
    pod('a', { containers: [{ name: 'd', image: 'i' }] }),
    pod('a', { containers: [{ name: 'c', image: 'i' }] }, { x: '1' }),
    pod('a', { containers: [{ name: 'c', image: 'i' }] }, { y: '1' }),
    pod('a', { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1, protocol: 'TCP' }] }] }),
    pod('a', { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 2, protocol: 'TCP' }] }] }),
    pod('a', { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 2, protocol: 'UDP' }] }] }),
    pod('a', { containers: [{ name: 'c', image: 'i' }] }, { 'x\n.': '1' }),
  ]
  assert.equal(new Set(variants.map(fieldsOf)).size, variants.length)
  // Twice over, so that the second round comes from what was kept.
  assert.deepEqual(variants.map(fieldsOf), variants.map(fieldsOf))
})
