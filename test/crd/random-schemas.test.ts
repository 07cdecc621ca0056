/** Properties of random definitions and their objects. `FUZZ_SEED` repeats a run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaType } from '../../src/api/schema/index.ts'
import { structType, structuralSchema } from '../../src/machinery/structural-schema/index.ts'
import { runAppliers } from '../api/fields/random-appliers.ts'
import { Random } from '../fuzz/random.ts'
import { clientOf, json, until } from '../support/api-client.ts'
import { startTestServer } from '../support/api-server.ts'
import { definitionsPath } from './definitions.ts'
import { randomSchema, randomValue, type Schema } from './random-schemas.ts'

const seed = Number(process.env.FUZZ_SEED ?? 20_261)
const group = 'random.example.com'
const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** Long enough for a machine that is busy; an expression that goes wrong takes years. */
const patienceMs = 20_000

const rootOf = (spec: Schema): Schema => ({
  type: 'object',
  properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})

const definitionOf = (plural: string, versions: Readonly<Record<string, Schema>>): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind: `K${plural}` },
    versions: Object.entries(versions).map(([name, spec], i) => ({
      name,
      served: true,
      storage: i === 0,
      schema: { openAPIV3Schema: rootOf(spec) },
    })),
  },
})

test(`any schema with any object is answered properly (FUZZ_SEED=${seed})`, { timeout: 110_000 }, async (t) => {
  const r = new Random(seed)
  const server = await startTestServer(t)
  const client = clientOf(t, 'HTTP/2', server)
  const statuses = new Map<number, number>()
  const ask = async (
    method: string,
    path: string,
    body?: object,
    type = 'application/json',
    accept = 'application/json',
  ) => {
    const timeout = AbortSignal.timeout(patienceMs)
    const description = `FUZZ_SEED=${seed}: ${method} ${path} ${JSON.stringify(body)}`
    const answer = await Promise.race([
      client.request(method, path, { body, headers: { 'content-type': type, accept } }),
      new Promise<never>((_, reject) =>
        timeout.addEventListener('abort', () => reject(new Error(`no answer: ${description}`))),
      ),
    ])
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    // An apply that violates the schema is 500 in kube-apiserver, too.
    const known =
      type.includes('apply') &&
      /failed to create typed patch object|Internal error|failed to update object/.test(answer.bytes.toString())
    assert.ok(answer.status < 500 || known, `${description} → ${answer.status} ${answer.bytes}`)
    return answer
  }
  let defined = 0
  for (let i = 0; i < 40; i++) {
    const spec = randomSchema(r, 4)
    const plural = `t${i}s`
    const path = `/apis/${group}/v1/namespaces/default/${plural}`
    if ((await ask('POST', definitionsPath, definitionOf(plural, { v1: spec }))).status !== 201) continue
    defined++
    await until('it is served', async () => (await client.request('GET', path)).status === 200)
    const object = (name: string): object => ({
      apiVersion: `${group}/v1`,
      kind: `K${plural}`,
      metadata: { name },
      spec: randomValue(r, spec),
    })
    for (let n = 0; n < 12; n++) {
      const name = `o${r.below(4)}`
      const one = `${path}/${name}`
      const choice = r.below(5)
      if (choice < 2) await ask('POST', path, object(name))
      else if (choice === 2)
        await ask('PATCH', one, { spec: randomValue(r, spec) as object }, 'application/merge-patch+json')
      else if (choice === 3)
        await ask(
          'PATCH',
          `${one}?fieldManager=${r.pick(['a', 'b'])}&force=true`,
          object(name),
          'application/apply-patch+yaml',
        )
      else {
        const live = await ask('GET', one)
        // An object that was read can be written, and does not change.
        if (live.status === 200)
          assert.deepEqual(json(await ask('PUT', one, json(live) as unknown as object)), json(live))
      }
    }
    await ask('GET', path, undefined, 'application/json', asTable)
    await ask('GET', `/openapi/v3/apis/${group}/v1`)
  }
  await ask('GET', '/openapi/v2')
  assert.ok(
    defined > 10 && (statuses.get(201) ?? 0) > 2 * defined,
    `${defined} definitions, ${JSON.stringify([...statuses])}`,
  )
  assert.deepEqual(server.logLines, [])
})

test(`conversion there and back changes nothing that both schemas know (FUZZ_SEED=${seed})`, {
  timeout: 110_000,
}, async (t) => {
  const r = new Random(seed + 1)
  const server = await startTestServer(t)
  const client = clientOf(t, 'HTTP/2', server)
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/default/pairs`
  const both: Schema = {
    type: 'object',
    properties: { same: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, n: { type: 'integer' } },
  }
  const withOwn = (name: string): Schema => ({
    ...both,
    properties: { ...(both.properties as object), [name]: { type: 'string' } },
  })
  await client.request('POST', definitionsPath, {
    body: definitionOf('pairs', { v1: withOwn('first'), v1beta1: withOwn('second') }),
  })
  await until('they are served', async () => (await client.request('GET', path('v1beta1'))).status === 200)
  const known = ({ bytes }: { readonly bytes: Buffer }): object => {
    const { same, n } = (JSON.parse(bytes.toString()) as { spec: { same?: unknown; n?: unknown } }).spec
    return { same, n }
  }
  for (let i = 0; i < 40; i++) {
    const spec = { same: { a: randomValue(r, randomSchema(r, 2)) }, n: r.below(100), first: 'x', second: 'y' }
    const from = r.pick(['v1', 'v1beta1'])
    const other = from === 'v1' ? 'v1beta1' : 'v1'
    const created = await client.request('POST', path(from), {
      body: { apiVersion: `${group}/${from}`, kind: 'Kpairs', metadata: { name: `p${i}` }, spec },
    })
    assert.equal(created.status, 201, created.bytes.toString())
    const shown = await client.request('GET', `${path(other)}/p${i}`)
    const written = await client.request('PUT', `${path(other)}/p${i}`, { body: shown.bytes })
    assert.equal(written.status, 200, written.bytes.toString())
    const back = await client.request('GET', `${path(from)}/p${i}`)
    assert.deepEqual(known(shown), known(created))
    assert.deepEqual(known(back), known(created))
  }
  assert.deepEqual(server.logLines, [])
})

test("appliers of custom resources in random order never lose another's field", () => {
  const counts = { refused: 0, forced: 0 }
  for (let run = 1; run <= 40; run++) {
    const spec = {
      type: 'object',
      properties: {
        a: randomSchema(new Random(run), 4),
        b: randomSchema(new Random(1000 + run), 3),
        c: { type: 'string' },
      },
    }
    const names = { group, version: 'v1', kind: 'Thing' }
    const type = structType(structuralSchema(rootOf(spec)), { ...names, metadata: schemaType('V1ObjectMeta') })
    const { refused, forced } = runAppliers({ apiVersion: `${group}/v1`, kind: 'Thing', type }, run)
    counts.refused += refused
    counts.forced += forced
  }
  assert.ok(counts.refused > 40 && counts.forced > 40, JSON.stringify(counts))
})
