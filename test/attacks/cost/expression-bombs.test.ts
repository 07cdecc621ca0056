/**
 * Schemas whose rules or patterns would take forever: patterns run in linear time, and definitions with too expensive
 * rules are rejected.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/ask.ts'
import { attackedServer } from '../support/attacked-server.ts'
import { whileOthersAreServed } from '../support/other-clients.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const definition = (plural: string, spec: object): string =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.bombs.example` },
    spec: {
      group: 'bombs.example',
      scope: 'Cluster',
      names: { plural, kind: plural },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  })

test('patterns with catastrophic backtracking take linear time', async (t) => {
  const server = await attackedServer(t)
  const patterns = ['^(a+)+$', '^(a|aa)*b$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(x+x+)+y', '^(a?){50}a{50}b$']
  const properties = Object.fromEntries(patterns.map((pattern, i) => [`p${i}`, { type: 'string', pattern }]))
  assert.equal(
    (await ask(server, 'POST', definitions, definition('patterns', { type: 'object', properties }))).status,
    201,
  )
  await whileOthersAreServed(t, server, async () => {
    const text = `${'a'.repeat(100_000)}!`
    const spec = Object.fromEntries(patterns.map((_, i) => [`p${i}`, text]))
    let status = 404
    for (let i = 0; i < 100 && status === 404; i++) {
      const body = JSON.stringify({ apiVersion: 'bombs.example/v1', kind: 'patterns', metadata: { name: 'a' }, spec })
      status = (await ask(server, 'POST', '/apis/bombs.example/v1/patterns', body)).status
    }
    assert.equal(status, 422)
  })
})

test('definitions with too expensive rules are rejected', async (t) => {
  const server = await attackedServer(t)
  const list = { type: 'array', items: { type: 'array', items: { type: 'array', items: { type: 'string' } } } }
  const rule = 'self.all(a, a.all(b, b.all(c, self.all(d, d.all(e, e.all(f, c == f))))))'
  await whileOthersAreServed(t, server, async () => {
    const { status, text } = await ask(
      server,
      'POST',
      definitions,
      definition('rules', { ...list, 'x-kubernetes-validations': [{ rule }] }),
    )
    assert.equal(status, 422)
    assert.match(text, /estimated rule cost exceeds budget by factor of/)
    const nested = `${'['.repeat(5000)}1${']'.repeat(5000)} == self`
    assert.equal(
      (
        await ask(
          server,
          'POST',
          definitions,
          definition('deep', { ...list, 'x-kubernetes-validations': [{ rule: nested }] }),
        )
      ).status,
      422,
    )
  })
})

test('YAML aliases that expand a small document into a huge one are rejected', async (t) => {
  const server = await attackedServer(t)
  const levels = Array.from({ length: 12 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(',')}]`)
  const bomb =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nl0: &l0 ' +
    `[x,x,x,x,x,x,x,x,x]\n${levels.join('\n')}\ndata: {a: *l12}\n`
  await whileOthersAreServed(t, server, async () => {
    const { status, text } = await ask(server, 'POST', '/api/v1/namespaces/default/configmaps', bomb, {
      'content-type': 'application/yaml',
    })
    assert.equal(status, 400)
    assert.match(text, /document contains excessive aliasing|too many|error converting YAML to JSON/)
  })
})
