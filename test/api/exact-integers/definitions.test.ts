/** 64-bit integers in CustomResourceDefinitions: defaults, enums, bounds, columns and expressions are exact. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { define, definitionsPath, gadgetsPath } from '../../crd/definitions.ts'
import { type Client, http1Client } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { integers, integersIn } from './integers.ts'

const maxInt64 = 2n ** 63n - 1n

/** Returns the text of a definition of Gadgets whose spec has the given properties. */
const definitionText = (properties: string, more = ''): string =>
  '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",' +
  '"metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com",' +
  '"scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1",' +
  '"served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",' +
  `"properties":{"spec":{"type":"object","properties":{${properties}}}}}}${more}}]}}`

const gadget = (spec: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"generateName":"g-"},"spec":{${spec}}}`

async function createDefinition(client: Client, properties: string, more?: string): Promise<void> {
  await define(client, definitionText(properties, more) as unknown as object)
}

async function create(client: Client, spec: string): Promise<{ status: number; text: string }> {
  const { status, bytes } = await client.request('POST', gadgetsPath, { body: gadget(spec) })
  return { status, text: bytes.toString() }
}

async function text(client: Client, path: string, accept = 'application/json'): Promise<string> {
  const { status, bytes } = await client.request('GET', path, { headers: { accept } })
  assert.equal(status, 200, bytes.toString())
  return bytes.toString()
}

test('defaults and enums of a definition are exact, and objects get the exact defaults', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  const int64 = '"type":"integer","format":"int64"'
  await createDefinition(
    client,
    `"d":{${int64},"default":${maxInt64}},"o":{"type":"object","default":{"n":${maxInt64 - 1n}},` +
      `"properties":{"n":{${int64}}}},"e":{${int64},"enum":[${maxInt64 - 2n},${-maxInt64 - 1n}]}`,
  )
  const definition = await text(client, `${definitionsPath}/gadgets.example.com`)
  assert.deepEqual(integersIn(definition, 'default'), [maxInt64])
  assert.match(definition, /"enum":\[9223372036854775805,-9223372036854775808\]/)
  const made = await create(client, `"e":${maxInt64 - 2n}`)
  assert.match(
    made.text,
    new RegExp(
      String.raw`"spec":\{"d":9223372036854775807,"e":9223372036854775805,` +
        String.raw`"o":\{"n":9223372036854775806\}\}|"e":9223372036854775805,"d":9223372036854775807`,
    ),
  )
  assert.deepEqual(integersIn(made.text, 'n'), [maxInt64 - 1n])
  const refused = await create(client, `"e":${maxInt64 - 1n}`)
  assert.equal(refused.status, 422)
  assert.match(
    refused.text,
    /Unsupported value: 9223372036854775806: supported values: \\"9223372036854775805\\", \\"-9223372036854775808\\"/,
  )
  for (const [path, protobuf] of [
    ['/openapi/v3/apis/example.com/v1', 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'],
    ['/openapi/v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'],
  ] as const) {
    const shown = await text(client, path)
    assert.ok(shown.includes('"enum":[9223372036854775805,-9223372036854775808]'))
    assert.ok((await text(client, path, protobuf)).includes('9223372036854775805'))
    // OpenAPI v2 has no defaults of custom resources.
    assert.equal(/"default":9223372036854775807/.test(shown), path !== '/openapi/v2')
  }
})

test('bounds are compared exactly', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  await createDefinition(
    client,
    '"n":{"type":"integer","format":"int64","maximum":4611686018427387904,' +
      '"minimum":-4611686018427387904,"multipleOf":2}',
  )
  assert.match((await create(client, `"n":${2n ** 62n}`)).text, /"n":4611686018427387904/)
  assert.match(
    (await create(client, `"n":${2n ** 62n + 2n}`)).text,
    /Invalid value: 4611686018427387906: spec.n in body should be less than or equal to 4611686018427387904/,
  )
  assert.match(
    (await create(client, `"n":${-(2n ** 62n) - 2n}`)).text,
    /Invalid value: -4611686018427387906: spec.n in body should be greater than or equal to -4611686018427387904/,
  )
  assert.match(
    (await create(client, `"n":${2n ** 62n - 1n}`)).text,
    /Invalid value: 4611686018427387903: spec.n in body should be a multiple of 2/,
  )
})

test('expressions compare integers exactly', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  const rules = [
    { rule: 'self.a < self.b', message: 'not below' },
    { rule: '!has(self.d) || self.d > 9.0e15', message: 'd is small' },
    { rule: '!has(self.free) || self.free.n == self.a', message: 'n is not a' },
  ]
  const properties =
    '"a":{"type":"integer"},"b":{"type":"integer"},"d":{"type":"number"},"free":{"type":"object",' +
    '"x-kubernetes-preserve-unknown-fields":true,"properties":{"n":{"type":"integer"}}}'
  const spec = definitionText(properties).replace(
    '"spec":{"type":"object"',
    `"spec":{"type":"object","x-kubernetes-validations":${JSON.stringify(rules)}`,
  )
  await define(client, spec as unknown as object)
  for (const value of integers(5, 20).filter((it) => it > -maxInt64)) {
    assert.equal((await create(client, `"a":${value - 1n},"b":${value}`)).status, 201)
    const refused = await create(client, `"a":${value},"b":${value}`)
    assert.equal(refused.status, 422)
    assert.ok(refused.text.includes('not below'), refused.text)
  }
  assert.equal((await create(client, `"a":1,"b":2,"d":${maxInt64}`)).status, 201)
  assert.equal((await create(client, `"a":${maxInt64 - 1n},"b":${maxInt64},"free":{"n":${maxInt64 - 1n}}`)).status, 201)
  assert.match(
    (await create(client, `"a":${maxInt64 - 1n},"b":${maxInt64},"free":{"n":${maxInt64 - 2n}}`)).text,
    /n is not a/,
  )
})

test('columns and selectable fields show all digits', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  const columns = ['integer', 'number', 'string'].map((type) => ({ name: type, type, jsonPath: '.spec.n' }))
  const more = `,"additionalPrinterColumns":${JSON.stringify(columns)},"selectableFields":[{"jsonPath":".spec.n"}]`
  await createDefinition(client, '"n":{"type":"integer","format":"int64"}', more)
  await create(client, `"n":${maxInt64}`)
  await create(client, `"n":${maxInt64 - 1n}`)
  const table = await text(
    client,
    `${gadgetsPath}?fieldSelector=spec.n%3D9223372036854775807`,
    'application/json;as=Table;v=v1;g=meta.k8s.io',
  )
  assert.match(table, /"cells":\["g-[^"]+",9223372036854775807,9223372036854775807,"9223372036854775807"\]/)
  assert.ok(!table.includes('9223372036854775806'))
})

test('invalid numbers in custom resources are rejected with the messages of Go', async (t) => {
  const client = http1Client(t, await startTestServer(t))
  await createDefinition(
    client,
    '"n":{"type":"integer","format":"int64"},"any":{"x-kubernetes-preserve-unknown-fields":true}',
  )
  const refused = async (spec: string, status: number, words: string): Promise<void> => {
    const answer = await create(client, spec)
    assert.equal(answer.status, status, answer.text)
    assert.ok(answer.text.includes(words), answer.text)
  }
  await refused('"n":1.5', 422, 'spec.n in body must be of type int64: \\"float64\\"')
  await refused('"n":9223372036854775808', 422, 'spec.n in body must be of type int64: \\"float64\\"')
  await refused('"n":1e400', 400, 'json: cannot unmarshal number 1e400 into Go value of type float64')
  await refused('"any":[{"a":1e400}]', 400, 'json: cannot unmarshal number 1e400 into Go value of type float64')
  for (const [written, stored] of [
    ['1.0', '1'],
    ['1e3', '1000'],
    ['-0', '0'],
  ])
    assert.match((await create(client, `"n":${written}`)).text, new RegExp(`"n":${stored}[,}]`))
  assert.match(
    (await create(client, '"any":[9223372036854775808,1e3,0.5]')).text,
    /"any":\[9223372036854776000,1000,0.5\]/,
  )
})
