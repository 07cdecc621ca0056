/**
 * The OpenAPI documents of a fresh server, compared with those of kube-apiserver 1.36.2 with default flags
 * (`documents-1.36.json.gz`: v2, and every document of v3 by its path) in everything but descriptions.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { testCluster } from '../support/test-cluster.ts'

type Node = Readonly<Record<string, unknown>>

const file = readFileSync(join(import.meta.dirname, 'documents-1.36.json.gz'))
const recorded = JSON.parse(gunzipSync(file).toString()) as {
  readonly v2: Node
  readonly v3: Readonly<Record<string, Node>>
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

const parameterPrefix = '#/parameters/'

/**
 * Without descriptions. Names of shared parameters end in a hash of their description, too: references show what they
 * stand for.
 */
function comparable(value: unknown, parameters: Node): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item, parameters))
  if (!isNode(value)) return value
  const { $ref: reference } = value
  if (typeof reference === 'string' && reference.startsWith(parameterPrefix))
    return { shared: comparable(parameters[reference.slice(parameterPrefix.length)], parameters) }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => name !== 'description' || typeof member !== 'string')
      .map(([name, member]) => [name, comparable(member, parameters)]),
  )
}

function comparableDocument({ parameters = {}, ...document }: Node): unknown {
  const shared = Object.values(comparable(parameters, {}) as Node).map((one) =>
    JSON.stringify(Object.entries(one as Node).sort()),
  )
  return { ...(comparable(document, parameters as Node) as Node), parameters: shared.sort() }
}

/** Yields every difference between the documents. The order of lists matters, that of members does not. */
function* differences(place: string, wanted: unknown, got: unknown): Generator<string> {
  if (isNode(wanted) && isNode(got))
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(got)]))
      yield* differences(`${place} ${name}`, wanted[name], got[name])
  else if (Array.isArray(wanted) && Array.isArray(got) && wanted.length === got.length)
    for (const [i, item] of wanted.entries()) yield* differences(`${place} ${i}`, item, got[i])
  else if (wanted !== got) yield `${place}: wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`
}

const assertSame = (wanted: Node, got: unknown): void =>
  assert.deepEqual([...differences('', comparableDocument(wanted), comparableDocument(got as Node))].slice(0, 20), [])

test('the OpenAPI documents of a fresh server are those of 1.36, except descriptions', async (t) => {
  const { call } = await testCluster(t)
  const index = (await call('GET', '/openapi/v3')) as {
    readonly paths?: Readonly<Record<string, { readonly serverRelativeURL: string }>>
  }
  const paths = index.paths ?? {}

  await t.test('the index names the same documents', () =>
    assert.deepEqual(Object.keys(paths).sort(), Object.keys(recorded.v3).sort()),
  )
  await t.test('/openapi/v2', async () => assertSame(recorded.v2, await call('GET', '/openapi/v2')))
  for (const [path, wanted] of Object.entries(recorded.v3))
    await t.test(`/openapi/v3/${path}`, async () =>
      assertSame(wanted, await call('GET', paths[path]?.serverRelativeURL ?? `/openapi/v3/${path}`)),
    )
})
