/**
 * Property names of Object.prototype work in the keys and values of fields like other names, and are rejected where the
 * API's validation rejects them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { http2Client, json, until } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { configMapsPath, podsPath } from '../../support/objects.ts'
import {
  deploymentsPath,
  entries,
  entriesOf,
  labelKeys,
  manifest,
  mapOf,
  names,
  ok,
  patch,
  type Stored,
  secretsPath,
} from './prototype-names.ts'

for (const [kind, path, value, other] of [
  ['ConfigMap', configMapsPath, 'one', 'two'],
  ['Secret', secretsPath, 'b25l', 'dHdv'],
] as const) {
  test(`a ${kind} may have all names as keys, in all reads and writes`, async (t) => {
    const server = await startTestServer(t)
    const client = http2Client(t, server)
    const at = `${path}/a`
    const watchLines: string[] = []
    const watch = client.lines(`${path}?watch=true&labelSelector=constructor,toString%3D1`, (line) =>
      watchLines.push(line),
    )
    await watch.status
    const meta = `"name":"a","labels":${mapOf(labelKeys, '1')},"annotations":${mapOf(labelKeys, 'x')}`
    const created = ok(
      await client.request('POST', `${path}?fieldValidation=Strict&fieldManager=one`, {
        body: manifest(kind, meta, `"data":${mapOf(names, value)}`),
      }),
      201,
    )
    const holds = (object: Stored, keys: readonly string[], expected: string): void =>
      assert.deepEqual(entriesOf(object.data), entries(keys, expected))
    holds(created, names, value)
    assert.deepEqual(entriesOf(created.metadata.labels), entries(labelKeys, '1'))
    assert.deepEqual(entriesOf(created.metadata.annotations), entries(labelKeys, 'x'))
    const owned = (object: Stored, manager: string): string[] =>
      Object.keys(
        object.metadata.managedFields.find((entry) => entry.manager === manager)?.fieldsV1['f:data'] ?? {},
      ).filter((key) => key !== '.')
    assert.deepEqual(owned(created, 'one').sort(), names.map((name) => `f:${name}`).sort())
    holds(ok(await client.request('GET', at)), names, value)

    holds(ok(await patch(client, 'merge', at, `{"data":${mapOf(names, null)}}`)), [], value)
    holds(ok(await patch(client, 'merge', at, `{"data":${mapOf(names, value)}}`)), names, value)
    holds(ok(await patch(client, 'strategic', at, `{"data":${mapOf(names, other)}}`)), names, other)
    holds(ok(await patch(client, 'strategic', at, `{"data":${mapOf(names, null)}}`)), [], other)
    const operations = (op: string, more: object = {}): string =>
      JSON.stringify(names.map((name) => ({ op, path: `/data/${name}`, ...more })))
    holds(
      ok(
        await patch(
          client,
          'json',
          at,
          operations('add', { value }).replace('[', '[{"op":"add","path":"/data","value":{}},'),
        ),
      ),
      names,
      value,
    )
    holds(ok(await patch(client, 'json', at, operations('test', { value }))), names, value)
    holds(ok(await patch(client, 'json', at, operations('remove'))), [], value)
    assert.equal((await patch(client, 'json', at, operations('remove'))).status, 422)

    const apply = (manager: string, data: string, force = false) =>
      patch(
        client,
        'apply',
        at,
        manifest(kind, '"name":"a"', `"data":${data}`),
        `?fieldManager=${manager}&force=${force}`,
      )
    const applied = ok(await apply('applier', mapOf(names, value)))
    holds(applied, names, value)
    assert.deepEqual(owned(applied, 'applier').sort(), names.map((name) => `f:${name}`).sort())
    const conflict = await apply('rival', mapOf(names, other))
    assert.equal(conflict.status, 409)
    assert.equal(json<{ details: { causes: object[] } }>(conflict).details.causes.length, names.length)
    holds(ok(await apply('rival', mapOf(names, other), true)), names, other)
    holds(ok(await apply('rival', '{}')), [], other)

    const live = ok(await client.request('GET', at))
    holds(
      ok(
        await client.request('PUT', at, {
          body: `${JSON.stringify({ ...live, data: undefined }).slice(0, -1)},"data":${mapOf(names, other)}}`,
        }),
      ),
      names,
      other,
    )
    for (const key of labelKeys) {
      const listed = json<{ items: object[] }>(
        await client.request('GET', `${path}?labelSelector=${key}%3D1,${key}+in+(1),${key}`),
      )
      assert.equal(listed.items.length, 1, key)
      assert.equal(
        json<{ items: object[] }>(await client.request('GET', `${path}?labelSelector=!${key}`)).items.length,
        0,
        key,
      )
    }
    const table = json<{ rows: { cells: unknown[] }[] }>(
      await client.request('GET', path, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } }),
    )
    assert.ok(table.rows[0]?.cells.includes(names.length), JSON.stringify(table.rows[0]))
    const yaml = await client.request('GET', at, { headers: { accept: 'application/yaml' } })
    for (const name of names) assert.match(yaml.bytes.toString(), new RegExp(`^  ${name}: ${other}$`, 'm'))
    ok(await client.request('DELETE', at))
    await until('the DELETED event', () => watchLines.length > 0 && watchLines.at(-1)!.startsWith('{"type":"DELETED"'))
    holds(JSON.parse(watchLines[0]!).object, names, value)
    holds(JSON.parse(watchLines.at(-1)!).object, names, other)
    assert.deepEqual(server.logLines, [])
  })
}

test('stringData of Secrets and binaryData of ConfigMaps may have such keys', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const secret = ok(
    await client.request('POST', secretsPath, {
      body: manifest('Secret', '"name":"a"', `"stringData":${mapOf(names, 'one')}`),
    }),
    201,
  )
  assert.deepEqual(entriesOf(secret.data), entries(names, 'b25l'))
  const map = await client.request('POST', configMapsPath, {
    body: manifest('ConfigMap', '"name":"a"', `"binaryData":${mapOf(names, 'b25l')}`),
  })
  assert.deepEqual(entriesOf(json<{ binaryData: object }>(map).binaryData), entries(names, 'b25l'))
  const both = await client.request('POST', configMapsPath, {
    body: manifest('ConfigMap', '"name":"b"', `"data":${mapOf(['a'], '')},"binaryData":${mapOf(names, '')}`),
  })
  assert.equal(both.status, 201, 'data and binaryData have no common key')
  const twice = await client.request('POST', configMapsPath, {
    body: manifest('ConfigMap', '"name":"c"', '"data":{"__proto__":""},"binaryData":{"__proto__":""}'),
  })
  assert.match(
    json(twice).message ?? '',
    /data\[__proto__\]: Invalid value: "__proto__": duplicate of key present in binaryData/,
  )
  const yaml =
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ' +
    `d\ndata:\n${names.map((name) => `  ${name}: one\n`).join('')}`
  const fromYaml = await client.request('POST', `${configMapsPath}?fieldValidation=Strict`, {
    body: yaml,
    headers: { 'content-type': 'application/yaml' },
  })
  assert.deepEqual(entriesOf(ok(fromYaml, 201).data), entries(names, 'one'))
})

test('invalid keys of labels and annotations are rejected in every kind of write', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  ok(await client.request('POST', configMapsPath, { body: manifest('ConfigMap', '"name":"a"', '"data":{}') }), 201)
  for (const [field, key] of [
    ['labels', '__proto__'],
    ['annotations', '__proto__'],
    ['annotations', 'x/__proto__'],
    ['labels', '__defineGetter__'],
  ] as const) {
    const metadata = `"${field}":{"${key}":"x"}`
    const body = manifest('ConfigMap', `"name":"a",${metadata}`, '"data":{}')
    const answers = {
      create: client.request('POST', configMapsPath, { body: body.replace('"a"', '"b"') }),
      update: client.request('PUT', `${configMapsPath}/a`, { body }),
      merge: patch(client, 'merge', `${configMapsPath}/a`, `{"metadata":{${metadata}}}`),
      strategic: patch(client, 'strategic', `${configMapsPath}/a`, `{"metadata":{${metadata}}}`),
      json: patch(
        client,
        'json',
        `${configMapsPath}/a`,
        `[{"op":"add","path":"/metadata/${field}","value":{}},` +
          `{"op":"add","path":"/metadata/${field}/${key.replace('/', '~1')}","value":"x"}]`,
      ),
      apply: patch(client, 'apply', `${configMapsPath}/a`, body, '?fieldManager=m'),
    }
    for (const [verb, sent] of Object.entries(answers)) {
      const answer = await sent
      assert.equal(answer.status, 422, `${verb} ${field} ${key}: ${answer.bytes}`)
      assert.ok(json(answer).message?.includes(`metadata.${field}: Invalid value: "${key}": `), json(answer).message)
    }
  }
  const live = ok(await client.request('GET', `${configMapsPath}/a`))
  assert.deepEqual([live.metadata.labels, live.metadata.annotations], [undefined, undefined])
})

test('unknown fields with such names are reported as unknown', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  for (const name of names.filter((one) => one !== 'name')) {
    const body = manifest('ConfigMap', `"name":"a","${name}":1`, `"${name}":{}`)
    const strict = await client.request('POST', `${configMapsPath}?fieldValidation=Strict`, { body })
    assert.match(
      json(strict).message ?? '',
      new RegExp(`strict decoding error: unknown field "metadata\\.${name}", unknown field "${name}"$`),
    )
  }
  const warned = await client.request('POST', configMapsPath, {
    body: manifest('ConfigMap', '"name":"a","__proto__":{"labels":{"x":"y"}}', '"__proto__":{"data":{"x":"y"}}'),
  })
  assert.match(String(warned.headers.warning), /unknown field \\"metadata.__proto__\\".*unknown field \\"__proto__\\"/)
  const { metadata, data } = ok(warned, 201)
  assert.deepEqual([metadata.labels, data], [undefined, undefined])
})

test('selectors, resources and variables of pods and Deployments may have such names', async (t) => {
  const server = await startTestServer(t)
  const client = http2Client(t, server)
  const resources = mapOf(
    labelKeys.map((key) => `example.com/${key}`),
    '1',
  )
  const env = names.map((name) => ({ name, value: '1' }))
  const fields = `"image":"i","env":${JSON.stringify(env)},"resources":{"limits":${resources}}`
  const container = `{"name":"constructor",${fields}}`
  const spec = `{"nodeSelector":${mapOf(labelKeys, 'x')},"containers":[${container}]}`
  const pod = await client.request('POST', podsPath, {
    body: manifest('Pod', '"name":"constructor"', `"spec":${spec}`),
  })
  const made = json<{
    spec: { nodeSelector: object; containers: { env: { name: string }[]; resources: { requests: object } }[] }
  }>({ ...pod })
  assert.equal(pod.status, 201, pod.bytes.toString())
  assert.deepEqual(entriesOf(made.spec.nodeSelector), entries(labelKeys, 'x'))
  assert.deepEqual(
    made.spec.containers[0]?.env.map(({ name }) => name),
    names,
  )
  assert.deepEqual(entriesOf(made.spec.containers[0]?.resources.requests).length, labelKeys.length)
  for (const name of names) {
    const refused = await client.request('POST', podsPath, {
      body: manifest(
        'Pod',
        '"name":"b"',
        `"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"${name}":"1"}}}]}`,
      ),
    })
    assert.equal(refused.status, 422, `${name}: ${refused.bytes}`)
    assert.ok(json(refused).message?.includes(`limits[${name}]: Invalid value: "${name}"`), json(refused).message)
  }
  const range = await client.request('POST', '/api/v1/namespaces/default/limitranges', {
    body: manifest('LimitRange', '"name":"a"', '"spec":{"limits":[{"type":"Container","max":{"__proto__":"1"}}]}'),
  })
  assert.ok(json(range).message?.includes('max[__proto__]: Invalid value'), json(range).message)

  const labels = mapOf(labelKeys, '1')
  const template = `{"metadata":{"labels":${labels}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
  const deployment = (matched: string): string =>
    manifest(
      'Deployment',
      '"name":"constructor"',
      `"spec":{"selector":{"matchLabels":${matched}},"template":${template}}`,
    ).replace('"v1"', '"apps/v1"')
  for (const name of labelKeys) {
    const refused = await client.request('POST', deploymentsPath, { body: deployment(mapOf([name], '2')) })
    assert.match(json(refused).message ?? '', /`selector` does not match template `labels`/, name)
  }
  ok(await client.request('POST', deploymentsPath, { body: deployment(labels) }), 201)
  const scaled = await patch(
    client,
    'merge',
    `${deploymentsPath}/constructor/scale`,
    '{"spec":{"replicas":3,"__proto__":{"x":1}},"__proto__":{"replicas":4}}',
  )
  assert.equal(json<{ spec: { replicas: number } }>(scaled).spec.replicas, 3)
  ok(await patch(client, 'merge', `${deploymentsPath}/constructor/status`, '{"status":{"__proto__":{"replicas":4}}}'))
  assert.deepEqual(server.logLines, [])
})
