/** Patches and applies set, test, compare and keep 64-bit integers exactly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { define, definitionOf, gadgetsPath } from '../../crd/definitions.ts'
import { type Client, http1Client } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { gadgetTextOf, integers, integersIn, podOf, podsPath, secondsIn } from './integers.ts'

const numbers = {
  list: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', format: 'int64' } } } },
  set: { type: 'array', items: { type: 'integer', format: 'int64' }, 'x-kubernetes-list-type': 'set' },
  map: {
    type: 'array',
    items: {
      type: 'object',
      required: ['k'],
      properties: { k: { type: 'integer', format: 'int64' }, v: { type: 'string' } },
    },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  },
}

const types = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

interface Outcome {
  readonly status: number
  readonly text: string
}

async function patch(client: Client, path: string, type: keyof typeof types, body: string): Promise<Outcome> {
  const { status, bytes } = await client.request('PATCH', path, { body, headers: { 'content-type': types[type] } })
  return { status, text: bytes.toString() }
}

async function create(client: Client, path: string, body: string): Promise<void> {
  const { status, bytes } = await client.request('POST', path, { body })
  assert.equal(status, 201, bytes.toString())
}

const maxInt64 = 2n ** 63n - 1n
const [value, other, ...values] = integers(11, 20).filter((it) => it > 2n ** 53n || it < -(2n ** 53n)) as [
  bigint,
  bigint,
  ...bigint[],
]

test('JSON patches set and test integers exactly', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  await define(client, definitionOf({ spec: numbers }))
  await create(client, gadgetsPath, gadgetTextOf('g', [value, other]))
  const path = `${gadgetsPath}/g`
  const next = await patch(
    client,
    path,
    'json',
    `[{"op":"test","path":"/spec/list/0/n","value":${value}},` +
      `{"op":"replace","path":"/spec/list/1/n","value":${values[0]}},` +
      '{"op":"copy","from":"/spec/list/0","path":"/spec/list/-"}]',
  )
  assert.equal(next.status, 200, next.text)
  assert.deepEqual(integersIn(next.text, 'n'), [value, values[0], value])
  const near = await patch(client, path, 'json', `[{"op":"test","path":"/spec/list/0/n","value":${value - 1n}}]`)
  assert.equal(near.status, 422, near.text)
})

test('merge patches of built-in and custom resources are exact', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  await define(client, definitionOf({ spec: numbers }))
  await create(client, gadgetsPath, gadgetTextOf('g', [value]))
  const merged = await patch(
    client,
    `${gadgetsPath}/g`,
    'merge',
    `{"spec":{"list":[${values.map((n) => `{"n":${n}}`).join()}]}}`,
  )
  assert.deepEqual(integersIn(merged.text, 'n'), values)
  await create(client, podsPath, podOf('p', [value, other]))
  const labelled = await patch(client, `${podsPath}/p`, 'merge', '{"metadata":{"labels":{"a":"b"}}}')
  assert.deepEqual(secondsIn(labelled.text), [value, other])
})

test('strategic merge patches find and set integers exactly', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  await create(client, podsPath, podOf('p', [value]))
  const path = `${podsPath}/p`
  const merged = await patch(
    client,
    path,
    'strategic',
    `{"spec":{"tolerations":${/"tolerations":(\[.*?\])/.exec(podOf('p', [maxInt64 - 1n]))![1]}}}`,
  )
  assert.deepEqual(secondsIn(merged.text), [maxInt64 - 1n], merged.text)
  const deadline = await patch(client, path, 'strategic', `{"spec":{"activeDeadlineSeconds":${maxInt64}}}`)
  assert.match(deadline.text, /Invalid value: 9223372036854775807: must be between 1 and 2147483647, inclusive/)
  const labelled = await patch(client, path, 'strategic', '{"metadata":{"labels":{"a":"b"}}}')
  assert.deepEqual(secondsIn(labelled.text), [maxInt64 - 1n])
})

test('integers beyond int64 and floats are rejected in patches, with the message of each patch type', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  await create(client, podsPath, podOf('p', [value]))
  const path = `${podsPath}/p`
  const seconds = '/spec/tolerations/0/tolerationSeconds'
  const field = 'Go struct field Toleration.spec.tolerations.tolerationSeconds of type int64'
  for (const digits of ['9223372036854775808', '1.0', '1e3']) {
    const json = await patch(client, path, 'json', `[{"op":"replace","path":"${seconds}","value":${digits}}]`)
    assert.equal(json.status, 422)
    assert.ok(json.text.includes(`cannot unmarshal number ${digits} into ${field}`), json.text)
    const merge = await patch(client, path, 'merge', `{"spec":{"activeDeadlineSeconds":${digits}}}`)
    assert.equal(merge.status, 422)
    assert.ok(
      merge.text.includes(
        `cannot unmarshal number ${digits} into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64`,
      ),
      merge.text,
    )
  }
  assert.match(
    (await patch(client, path, 'strategic', '{"spec":{"activeDeadlineSeconds":9223372036854775808}}')).text,
    /cannot convert float64 to int64/,
  )
  const float = await patch(client, path, 'strategic', '{"spec":{"activeDeadlineSeconds":1e3}}')
  assert.deepEqual(integersIn(float.text, 'activeDeadlineSeconds'), [1000n], float.text)
  const endless = await patch(client, path, 'strategic', '{"spec":{"activeDeadlineSeconds":1e400}}')
  assert.ok(
    endless.status === 400 && endless.text.includes('cannot unmarshal number 1e400 into Go value of type float64'),
    endless.text,
  )
})

test('applying compares integers exactly, as values, items of sets and keys', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  await define(client, definitionOf({ spec: numbers }))
  const path = `${gadgetsPath}/g?fieldManager=`
  const head = 'apiVersion: example.com/v1\nkind: Gadget\nmetadata:\n  name: g\n'
  const body = (n: bigint, set: readonly bigint[], keys: readonly bigint[]): string =>
    `${head}spec:\n  list: [{"n": ${n}}]\n  set: [${set.join(', ')}]\n  map: ` +
    `[${keys.map((k) => `{k: ${k}, v: a}`).join(', ')}]\n`
  const made = await patch(
    client,
    `${path}one`,
    'apply',
    body(maxInt64, [maxInt64, maxInt64 - 1n], [maxInt64, maxInt64 - 1n]),
  )
  assert.equal(made.status, 201, made.text)
  assert.match(made.text, /"v:9223372036854775806":\{\}/)
  assert.match(made.text, /"k:\{\\"k\\":9223372036854775807\}"/)
  const same = await patch(client, `${path}two`, 'apply', body(maxInt64, [maxInt64], [maxInt64]))
  assert.equal(same.status, 200, same.text)
  const different = await patch(client, `${path}two`, 'apply', body(maxInt64 - 1n, [maxInt64], [maxInt64]))
  assert.ok(different.status === 409 && different.text.includes('.spec.list'), different.text)
  // An item that its only manager no longer applies is removed, its neighbour stays.
  const fewer = await patch(client, `${path}one`, 'apply', body(maxInt64, [maxInt64 - 1n], [maxInt64 - 1n]))
  assert.equal(fewer.status, 200, fewer.text)
  assert.deepEqual(
    [...fewer.text.matchAll(/"k":(\d+),"v"/g)].map(([, digits]) => BigInt(digits!)),
    [maxInt64, maxInt64 - 1n],
  )
  assert.match(fewer.text, /"set":\[9223372036854775807,9223372036854775806\]/)
  const twice = await patch(client, `${path}one`, 'apply', body(maxInt64, [maxInt64, maxInt64], []))
  assert.ok(twice.status >= 400 && twice.text.includes('duplicate entries for key [=9223372036854775807]'), twice.text)
})
