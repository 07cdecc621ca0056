import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AnswerCache } from './answer-cache.ts'

describe('cached responses', () => {
  test('expire exactly after their time', () => {
    let now = 0
    const cache = new AnswerCache<string>(10, () => now)
    cache.set('a', 'yes', 100)
    cache.set('b', 'never cached', 0)
    now = 99
    assert.equal(cache.get('a'), 'yes')
    assert.equal(cache.get('b'), undefined)
    now = 100
    assert.equal(cache.get('a'), undefined)
    assert.equal(cache.size, 0)
  })

  test('are limited in number: the least recently used one is dropped', () => {
    const cache = new AnswerCache<number>(2)
    cache.set('a', 1, 1000)
    cache.set('b', 2, 1000)
    cache.get('a')
    cache.set('c', 3, 1000)
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c'), cache.size], [1, undefined, 3, 2])
  })
})
