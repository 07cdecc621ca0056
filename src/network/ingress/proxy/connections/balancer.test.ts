import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WeightedBackend } from '../../picture/route.ts'
import { Balancer } from './balancer.ts'

test('backends get requests by weight, spread evenly', () => {
  const balancer = new Balancer()
  const backends: WeightedBackend[] = [5, 1, 0, 1].map((weight, at) => ({ weight, backend: { fault: String(at) } }))
  const action = { name: 'test', backends }
  const order = Array.from({ length: 7 }, () => backends.indexOf(balancer.chooseBackend(action)!))
  assert.deepEqual(order, [0, 0, 1, 0, 3, 0, 0])
  assert.equal(balancer.chooseBackend({ name: 'none', backends: [] }), undefined)
  assert.equal(balancer.chooseBackend({ name: 'zero', backends: [{ weight: 0, backend: { fault: '' } }] }), undefined)
})

test('each request begins with the next endpoint', () => {
  const balancer = new Balancer()
  const endpoints = ['a', 'b', 'c'].map((address) => ({ address, port: 80 }))
  const target = { name: 'web', protocol: 'http/1.1', endpoints } as const
  const order = Array.from({ length: 4 }, () =>
    balancer
      .endpointsOf(target)
      .map(({ address }) => address)
      .join(''),
  )
  assert.deepEqual(order, ['abc', 'bca', 'cab', 'abc'])
})
