import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { NodeInfo } from '../framework/node-info.ts'
import { PodInfo } from '../framework/pods/pod-info.ts'
import { aNode, aPod, withRequests } from '../testing/objects.fixture.ts'
import { httpExtender } from './http-extender.ts'
import type { ExtenderSettings } from './settings.ts'

interface ReceivedCall {
  readonly path: string
  readonly body: Record<string, unknown>
}

/** Serves an extender with the given answers by verb. */
async function extender(t: TestContext, answers: Record<string, unknown>, settings: Partial<ExtenderSettings> = {}) {
  const calls: ReceivedCall[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    calls.push({
      path: request.url ?? '',
      body: JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>,
    })
    const answer = answers[(request.url ?? '').split('/').at(-1) ?? '']
    response.writeHead(answer === undefined ? 500 : 200).end(JSON.stringify(answer ?? ''))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const urlPrefix = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scheduler`
  return { calls, extender: httpExtender({ urlPrefix, timeoutMs: 5000, ...settings }) }
}

const nodes = ['a', 'b'].map((name) => new NodeInfo(aNode(name)))
const pod = new PodInfo(aPod('p', withRequests({ 'example.com/gpu': '1' })))

test('filter sends nodes, or only names to a nodeCacheCapable extender, and returns reasons', async (t) => {
  const whole = await extender(
    t,
    {
      filter: { nodes: { items: [aNode('b')] }, failedNodes: { a: 'no' }, failedAndUnresolvableNodes: { a: 'never' } },
    },
    { filterVerb: 'filter' },
  )
  assert.deepEqual(await whole.extender.filter?.(pod, nodes), {
    feasible: [nodes[1]],
    failed: { a: 'no' },
    unresolvable: { a: 'never' },
  })
  assert.deepEqual((whole.calls[0]!.body.Nodes as { items: unknown[] }).items.length, 2)
  const named = await extender(t, { filter: { NodeNames: ['a'] } }, { filterVerb: 'filter', nodeCacheCapable: true })
  assert.deepEqual((await named.extender.filter?.(pod, nodes))?.feasible, [nodes[0]])
  assert.deepEqual(
    [named.calls[0]?.path, named.calls[0]?.body.NodeNames, named.calls[0]?.body.Nodes],
    ['/scheduler/filter', ['a', 'b'], null],
  )
})

test('errors of an extender name it', async (t) => {
  const broken = await extender(
    t,
    { filter: { error: 'out of order' } },
    { filterVerb: 'filter', prioritizeVerb: 'none' },
  )
  await assert.rejects(async () => broken.extender.filter?.(pod, nodes), /^Error: out of order$/)
  await assert.rejects(
    async () => broken.extender.prioritize?.(pod, nodes),
    /^Error: failed none with extender at URL http:\/\/127\.0\.0\.1:\d+\/scheduler\/none, code 500$/,
  )
  const strange = await extender(t, { filter: { NodeNames: ['c'] } }, { filterVerb: 'filter', nodeCacheCapable: true })
  await assert.rejects(
    async () => strange.extender.filter?.(pod, nodes),
    /claims a filtered node "c" which is not found in the input node list/,
  )
  await assert.rejects(
    async () =>
      httpExtender({ urlPrefix: 'http://127.0.0.1:1', filterVerb: 'f', timeoutMs: 1000 }).filter?.(pod, nodes),
    /extender at URL/,
  )
})

test('scores, bindings and victims are requested with the configured verbs', async (t) => {
  const answers = {
    score: [{ Host: 'a', Score: 3 }],
    bind: {},
    evict: { NodeNameToMetaVictims: { a: { Pods: [{ UID: 'uid-of-v' }], NumPDBViolations: 1 } } },
  }
  const all = await extender(t, answers, {
    prioritizeVerb: 'score',
    bindVerb: 'bind',
    preemptVerb: 'evict',
    nodeCacheCapable: true,
  })
  assert.deepEqual(await all.extender.prioritize?.(pod, nodes), new Map([['a', 3]]))
  await all.extender.bind?.(pod, 'a')
  assert.deepEqual(all.calls[1]?.body, { PodName: 'p', PodNamespace: 'default', PodUID: 'uid-of-p', Node: 'a' })
  const victim = new PodInfo(aPod('v'))
  const left = await all.extender.preempt?.(
    pod,
    new Map([
      ['a', { pods: [victim], violations: 0 }],
      ['b', { pods: [victim], violations: 0 }],
    ]),
  )
  assert.deepEqual(left, new Map([['a', { pods: [victim], violations: 1 }]]))
  await assert.rejects(
    async () => all.extender.preempt?.(pod, new Map([['a', { pods: [], violations: 0 }]])),
    /claims to preempt pod \(UID: uid-of-v\) on node: a, but the pod is not found on that node$/,
  )
})

test('an extender with managed resources is called only for pods that request them', async () => {
  const of = (name: string) =>
    httpExtender({ urlPrefix: 'http://127.0.0.1:1', timeoutMs: 1, managedResources: [{ name }] }).isInterested(pod)
  assert.deepEqual([of('example.com/gpu'), of('example.com/other')], [true, false])
})
