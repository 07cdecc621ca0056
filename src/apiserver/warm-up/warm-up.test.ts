import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitGroup } from '../chain/lifetime/wait-group.ts'
import { type Handler, text } from '../http/exchange.ts'
import { requestInfo } from '../request/request-info.ts'
import { warmUp } from './index.ts'

/** Counts what is asked, by kind, until as many as wanted have come. */
function counting(answer: (kind: string) => number, wanted: Record<string, number>) {
  const asked: Record<string, number> = {}
  let enough: () => void
  const all = new Promise<void>((resolve) => (enough = resolve))
  const handler: Handler = async ({ method, path, query }) => {
    const info = requestInfo(method, path, query)
    const kind = `${info.verb} ${info.resource}`
    asked[kind] = (asked[kind] ?? 0) + 1
    if (Object.keys(wanted).every((name) => (asked[name] ?? 0) >= wanted[name]!)) enough()
    return text(answer(kind), '')
  }
  return { handler, asked, all }
}

test('every path is asked, and none waits for another', { timeout: 60_000 }, async () => {
  const { handler, asked, all } = counting(() => 200, {
    'create configmaps': 400,
    'update namespaces': 400,
    'patch namespaces': 400,
    'delete clusterroles': 400,
    'get namespaces': 400,
    'list namespaces': 400,
    'watch namespaces': 40,
  })
  const pods: (() => void)[] = []
  const warmth = warmUp((request) => {
    if (!request.path.endsWith('/pods')) return handler(request)
    return new Promise((resolve) => pods.push(() => resolve(text(201, ''))))
  }, new WaitGroup())
  await all
  assert.equal(pods.length, 1)
  assert.equal(asked['create configmaps'], 400)
  assert.equal(asked['watch namespaces'], 40)
  warmth.end()
})

test('what is refused is asked a few times only', { timeout: 60_000 }, async () => {
  const { handler, asked, all } = counting((kind) => (kind === 'create pods' ? 403 : 200), {
    'list namespaces': 400,
    'create configmaps': 400,
    'create pods': 3,
  })
  const warmth = warmUp(handler, new WaitGroup())
  await all
  assert.equal(asked['create pods'], 3)
  warmth.end()
})
