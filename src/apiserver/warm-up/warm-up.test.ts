import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Handler, text } from '../http/exchange.ts'
import { WaitGroup } from '../http/wait-group.ts'
import { requestInfo } from '../request-info/request-info.ts'
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

const start = (handler: Handler, mayWrite = () => true) => warmUp({ handler, waitGroup: new WaitGroup(), mayWrite })

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

test('what is refused is asked a few times only', { timeout: 60_000 }, async () => {
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

test('nothing is written where others would be asked about it', { timeout: 60_000 }, async () => {
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

test('it begins again when asked to', { timeout: 60_000 }, async () => {
  const { handler, all } = counting(() => 200, { 'list namespaces': 500, 'create configmaps': 500 })
  const warmth = start(handler)
  warmth.again()
  await all
  warmth.end()
})
