import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Request, Response } from '../../http/exchange.ts'
import { requestInfo } from '../../request-info/request-info.ts'
import { maxInFlight } from './max-in-flight.ts'

const request = (method: string, target: string, groups: readonly string[] = []): Request => {
  const { pathname, searchParams } = new URL(target, 'https://x')
  return { info: requestInfo(method, pathname, searchParams), user: { name: 'u', groups } } as unknown as Request
}

test('reads and writes have separate limits; long-running requests and administrators are exempt', async () => {
  const dropped: string[] = []
  const terminated: number[] = []
  const filter = maxInFlight({ readOnly: 1, mutating: 0 }, (kind) => dropped.push(kind), {
    terminated: (_request, code) => terminated.push(code),
  })
  const held: (() => void)[] = []
  const hold = (): Promise<Response> => new Promise((resolve) => held.push(() => resolve({ status: 200, headers: {} })))
  const pods = '/api/v1/pods'
  const first = filter(request('GET', pods), hold)
  const refused = await filter(request('GET', pods), hold)
  assert.equal(refused.status, 429)
  assert.equal(refused.headers['retry-after'], '1')
  assert.equal(String(refused.body), 'Too many requests, please try again later.\n')
  assert.deepEqual(dropped, ['readOnly'])
  assert.deepEqual(terminated, [429])
  const passing = [
    filter(request('GET', `${pods}?watch=1`), hold),
    filter(request('GET', '/api/v1/namespaces/a/pods/b/log'), hold),
    filter(request('POST', '/api/v1/namespaces/a/pods'), hold),
    filter(request('POST', '/api/v1/namespaces/a/pods'), hold),
    filter(request('GET', pods, ['system:masters']), hold),
  ]
  assert.equal(held.length, 6)
  for (const release of held.splice(0)) release()
  await Promise.all([first, ...passing])
  assert.throws(() =>
    filter(request('GET', pods), () => {
      throw new Error('refused later on')
    }),
  )
  const again = filter(request('GET', pods), hold)
  held[0]!()
  assert.equal((await again).status, 200)
})
