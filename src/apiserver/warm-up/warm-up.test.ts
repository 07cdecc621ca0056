import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Handler, text } from '../http/exchange.ts'
import { WaitGroup } from '../http/wait-group.ts'
import { requestInfo } from '../request-info/request-info.ts'
import { warmUp } from './index.ts'

/** Counts requests by kind until the wanted numbers are reached. */
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

const start = (handler: Handler, mayWrite = () => true) => warmUp({ handler, waitGroup: new WaitGroup(), mayWrite })

test('every kind of request is sent, and none waits for another', { timeout: 60_000 }, async () => {
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
  const warmth = start((request) => {
    if (!request.path.endsWith('/pods')) return handler(request)
    return new Promise((resolve) => pods.push(() => resolve(text(201, ''))))
  })
  await all
  assert.equal(pods.length, 1)
  assert.equal(asked['create configmaps'], 400)
  assert.equal(asked['watch namespaces'], 40)
  warmth.end()
})

test('a kind that is rejected is sent a few times only', { timeout: 60_000 }, async () => {
  const { handler, asked, all } = counting((kind) => (kind === 'create pods' ? 403 : 200), {
    'list namespaces': 400,
    'create configmaps': 400,
    'create pods': 3,
  })
  const warmth = start(handler)
  await all
  assert.equal(asked['create pods'], 3)
  warmth.end()
})

test('no writes are sent if webhooks would be called', { timeout: 60_000 }, async () => {
  const { handler, asked, all } = counting(() => 200, {
    'list namespaces': 400,
    'get namespaces': 400,
    'watch namespaces': 40,
  })
  const warmth = start(handler, () => false)
  await all
  assert.deepEqual(Object.keys(asked).sort(), ['get namespaces', 'list namespaces', 'watch namespaces'])
  warmth.end()
})

test('repeat sends more requests', { timeout: 60_000 }, async () => {
  const { handler, all } = counting(() => 200, { 'list namespaces': 500, 'create configmaps': 500 })
  const warmth = start(handler)
  warmth.repeat()
  await all
  warmth.end()
})
