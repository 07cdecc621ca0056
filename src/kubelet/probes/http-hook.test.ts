import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { PodEvents } from '../containers/container-events.ts'
import type { Container, Pod } from '../pod-types.ts'
import type { HttpGet } from './handlers/http/http-request.ts'
import { httpHookSender } from './http-hook.ts'

const pod = { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: { containers: [] } } as unknown as Pod

async function hookTo(t: TestContext, listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const events: string[] = []
  let fallbacks = 0
  const send = httpHookSender({
    events: new PodEvents(
      { record: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      'n',
    ),
    podIp: () => '127.0.0.1',
    countFallback: () => void fallbacks++,
  })
  const run = (action: Partial<HttpGet>) => send(pod, { name: 'c' } as Container, { port, ...action } as HttpGet)
  return { run, port, events, fallbacks: () => fallbacks, close: () => server.close() }
}

test('any answer to a hook is a success', async (t) => {
  const hook = await hookTo(t, (_, response) => response.writeHead(500).end())
  await hook.run({ path: '/' })
  assert.deepEqual(hook.events, [])
})

test('a hook with HTTPS is retried with HTTP, without its Authorization', async (t) => {
  let headers: readonly string[] = []
  const hook = await hookTo(t, (request, response) => {
    headers = Object.keys(request.headers)
    response.end()
  })
  await hook.run({ scheme: 'HTTPS', httpHeaders: [{ name: 'authorization', value: 'secret' }] })
  assert.deepEqual(headers, ['host', 'user-agent', 'accept', 'connection'])
  assert.equal(hook.fallbacks(), 1)
  const address = `127.0.0.1:${hook.port}`
  const message = `request to HTTPS lifecycle hook ${address} got HTTP response, retry with HTTP succeeded`
  assert.deepEqual(hook.events, [`Warning LifecycleHTTPFallback ${message}`])
})

test('a hook without a server fails', async (t) => {
  const hook = await hookTo(t, () => {})
  hook.close()
  await assert.rejects(hook.run({ path: '/bye' }), {
    message: `Get "http://127.0.0.1:${hook.port}/bye": dial tcp 127.0.0.1:${hook.port}: connect: connection refused`,
  })
  assert.equal(hook.fallbacks(), 0)
})
