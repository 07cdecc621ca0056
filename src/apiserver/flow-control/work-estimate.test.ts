import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestInfo } from '../request-info/request-info.ts'
import { WatchCounts } from './watch-counts.ts'
import { type CollectionSize, estimateWork, narrowed, seatsOf, workOf } from './work-estimate.ts'

const estimate = (method: string, target: string, size: CollectionSize, maxSeats = 0, watches = new WatchCounts()) => {
  const { pathname, searchParams: query } = new URL(target, 'https://x')
  return estimateWork({ size, watches }, { query, info: requestInfo(method, pathname, query) }, maxSeats)
}

test('the seats of a list grow with the size of what it reads, up to ten or the maximum of its level', () => {
  const size =
    (objects: number, bytesEach: number): CollectionSize =>
    () => ({ objects, bytes: objects * bytesEach })
  const table: readonly (readonly [target: string, size: CollectionSize, seats: number, maxSeats?: number])[] = [
    ['/api/v1/pods', size(10, 3000), 1],
    ['/api/v1/pods', size(100, 3000), 3],
    ['/api/v1/pods?limit=50', size(100, 3000), 2],
    ['/api/v1/pods', size(1_000_000, 3000), 10],
    ['/api/v1/pods', size(1_000_000, 3000), 4, 4],
    ['/api/v1/pods?fieldSelector=metadata.name%3Dx', size(1_000_000, 3000), 1],
    ['/api/v1/pods?fieldSelector=metadata.name%3Dx', size(799, 200_000), 2],
    ['/api/v1/pods?fieldSelector=metadata.name%3Dx&limit=500', size(799, 1_500_000), 10],
    ['/api/v1/pods', () => undefined, 1],
    ['/api/v1/pods', size(0, 0), 1],
    ['/api/v1/pods?watch=1', size(100, 3000), 3],
    ['/api/v1/pods?watch=1&resourceVersion=', size(100, 3000), 3],
    ['/api/v1/pods?watch=1&resourceVersion=0', size(100, 3000), 3],
    ['/api/v1/pods?watch=1&resourceVersion=7', size(100, 3000), 1],
    ['/api/v1/pods?watch=1&resourceVersion=7&sendInitialEvents=true', size(100, 3000), 3],
    ['/api/v1/pods?watch=1&fieldSelector=metadata.name%3Dx', size(100, 3000), 1],
    ['/api/v1/pods?watch=1&sendInitialEvents=true', size(1000, 3000), 10],
    ['/api/v1/namespaces/a/pods/b', size(1000, 3000), 1],
    ['/metrics', size(1000, 3000), 1],
    ['/api/v1/pods', size(99, 1010), 1],
    ['/api/v1/pods', size(1000, 999), 10],
    ['/api/v1/pods?limit=100', size(1000, 999), 1],
    ['/api/v1/pods?limit=100&labelSelector=a', size(1000, 999), 1],
    ['/api/v1/pods?limit=10', size(99, 10_101), 2],
    ['/api/v1/pods?limit=10', size(99, 101_010), 10],
    // These lists are rejected later.
    ['/api/v1/pods?limit=many', size(10, 3000), 100],
    ['/api/v1/pods?limit=many', size(10, 3000), 37, 37],
    ['/api/v1/pods?watch=1&sendInitialEvents=1', size(1000, 3000), 10],
    ['/api/v1/pods?watch=1&resourceVersion=7&sendInitialEvents=False', size(1000, 3000), 1],
  ]
  for (const [target, given, seats, maxSeats] of table)
    assert.equal(estimate('GET', target, given, maxSeats).initialSeats, seats, target)
})

test('the number of watches is observed for each write', () => {
  const watches = new WatchCounts()
  const counts: number[] = []
  const ends = Array.from({ length: 29 }, () =>
    watches.add(requestInfo('GET', '/api/v1/pods', new URLSearchParams('watch=1'))),
  )
  const ask = (method: string, path: string) =>
    estimateWork(
      { size: () => undefined, watches },
      { query: new URLSearchParams(), info: requestInfo(method, path, new URLSearchParams()) },
      0,
      {
        watched: (count) => counts.push(count),
      },
    )
  const pod = '/api/v1/namespaces/a/pods/b'
  for (const method of ['PUT', 'PATCH', 'DELETE'])
    assert.deepEqual(ask(method, pod), { initialSeats: 1, finalSeats: 3, lingerMs: 5 }, method)
  for (const end of ends.slice(5)) end()
  assert.deepEqual(ask('PUT', pod), { initialSeats: 1, finalSeats: 0, lingerMs: 0 })
  ask('GET', pod)
  ask('POST', '/api/v1/namespaces/a/serviceaccounts/b/token')
  ask('DELETE', '/api/v1/namespaces/a/pods')
  assert.deepEqual(counts, [29, 29, 29, 5])
  for (let i = 0; i < 195; i++) watches.add(requestInfo('GET', '/api/v1/pods', new URLSearchParams('watch=1')))
  assert.deepEqual(ask('PUT', pod), { initialSeats: 1, finalSeats: 10, lingerMs: 10 })
})

test('a write counts the watches that receive its event', () => {
  const watches = new WatchCounts()
  const watched = (path: string): RequestInfoOf => requestInfo('GET', path, new URLSearchParams('watch=1'))
  const ends = [
    ...Array.from({ length: 12 }, () => watches.add(watched('/api/v1/pods'))),
    ...Array.from({ length: 13 }, () => watches.add(watched('/api/v1/namespaces/a/pods'))),
  ]
  const write = (path: string, maxSeats = 0) => estimate('POST', path, () => undefined, maxSeats, watches)
  assert.deepEqual(write('/api/v1/namespaces/a/pods'), { initialSeats: 1, finalSeats: 3, lingerMs: 5 })
  assert.deepEqual(write('/api/v1/namespaces/b/pods'), { initialSeats: 1, finalSeats: 2, lingerMs: 5 })
  // Fewer seats, for longer.
  assert.deepEqual(write('/api/v1/namespaces/a/pods', 1), { initialSeats: 1, finalSeats: 1, lingerMs: 15 })
  assert.equal(write('/api/v1/namespaces/a/configmaps').finalSeats, 0)
  assert.ok(Math.abs(workOf(write('/api/v1/namespaces/a/pods')) - 0.018) < 1e-9)
  for (const end of ends) end()
  assert.equal(write('/api/v1/namespaces/a/pods').finalSeats, 0)
})

test('fewer final seats linger longer for the same work', () => {
  const estimate = { initialSeats: 1, finalSeats: 10, lingerMs: 5 }
  const narrow = narrowed(estimate, 4)
  assert.deepEqual(
    [narrow, seatsOf(estimate), seatsOf(narrow)],
    [{ initialSeats: 1, finalSeats: 4, lingerMs: 12.5 }, 10, 4],
  )
  assert.ok(Math.abs(workOf(narrow) - workOf(estimate)) < 1e-9)
})

type RequestInfoOf = ReturnType<typeof requestInfo>
