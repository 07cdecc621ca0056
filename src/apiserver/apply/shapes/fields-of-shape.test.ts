import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaType } from '../../../api/schema/index.ts'
import { runSync, type Steps } from '../../../lib/flow/steps.ts'
import type { FieldsV1, KubeObject, Unstructured } from '../../../machinery/object.ts'
import type { StructType } from '../../../machinery/schema.ts'
import { trackUpdate } from '../managed-fields/track-update.ts'
import { fieldsOfShape } from './fields-of-shape.ts'

const type = schemaType('V1Pod')
const pod = (name: string, spec: Record<string, unknown>, labels?: Record<string, string>): Unstructured => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, ...(labels && { labels }) },
  spec,
})
const fieldsOf = (object: KubeObject): string =>
  JSON.stringify(
    trackUpdate({ object, type, manager: 'm', apiVersion: 'v1', now: '2026-01-01T00:00:00Z' })?.map(
      ({ fieldsV1 }) => fieldsV1,
    ),
  )

test('objects of one shape share field sets even if their values differ', () => {
  let computed = 0
  const fields = { 'f:spec': {} }
  const compute = function* (): Steps<FieldsV1> {
    yield
    computed++
    return fields
  }
  const get = (name: string) =>
    runSync(fieldsOfShape(pod(name, { containers: [{ name: 'c', image: name }] }), type, 'a', compute))
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
  // Twice, so that the second round reads from the cache.
  assert.deepEqual(variants.map(fieldsOf), variants.map(fieldsOf))
})

/** A copy of the type, for which nothing is cached. */
const unknownType = (): StructType => {
  const { kind, definition, goName, fields, required, atomic, groupVersionKinds } = type
  return { kind, definition, goName, fields, required, atomic, groupVersionKinds }
}

test('cached fields equal computed ones, for odd shapes too', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % below
  }
  const pick = <T>(...values: T[]): T => values[random(values.length)]!
  const some = <T>(most: number, make: () => T): T[] => Array.from({ length: random(most + 1) }, make)
  const container = () => ({
    name: pick('a', 'b', '', '}'),
    image: pick('i', '', undefined),
    ports: pick<unknown>(
      undefined,
      null,
      some(3, () => ({ containerPort: pick(1, 2, 0), protocol: pick('TCP', 'UDP', undefined, null) })),
    ),
    env: some(2, () => ({ name: pick('A', 'B'), value: pick('', '1', null) })),
    resources: pick<unknown>({}, { limits: { cpu: pick('0', '1') } }, undefined),
  })
  for (let i = 0; i < 400; i++) {
    const labels = pick<Record<string, string> | undefined>(
      undefined,
      {},
      { a: '' },
      { 'a\n.': 'x' },
      { '}': '1', b: '2' },
    )
    const object = pod(
      'p',
      { containers: some(2, container), tolerations: some(2, () => ({ key: 'k' })), hostNetwork: pick(true, false) },
      labels,
    )
    object.metadata.finalizers = pick(undefined, [], ['x/y'], ['x/y', 'x/z'])
    const computed = trackUpdate({
      object,
      type: unknownType(),
      manager: 'm',
      apiVersion: 'v1',
      now: '2026-01-01T00:00:00Z',
    })
    assert.equal(fieldsOf(object), JSON.stringify(computed?.map(({ fieldsV1 }) => fieldsV1)), JSON.stringify(object))
  }
})

test('the number of cached shapes is bounded', () => {
  let computed = 0
  const compute = function* (): Steps<FieldsV1> {
    yield
    computed++
    return { 'f:spec': {} }
  }
  const create = (labels: Record<string, string>) => runSync(fieldsOfShape(pod('p', {}, labels), type, '', compute))
  for (let i = 0; i < 30; i++)
    create(Object.fromEntries(Array.from({ length: 2000 }, (_, key) => [`${i}-${key}`, 'v'])))
  const before = computed
  create({ '0-0': 'v' })
  assert.equal(computed, before + 1)
})
