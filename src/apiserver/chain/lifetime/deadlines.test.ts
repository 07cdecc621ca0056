import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deadlines } from './deadlines.ts'

test('late deadlines expire in order; removed ones do not, wherever they are in the queue', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const deadlines = new Deadlines(5_000)
  const expired: string[] = []
  const [first, second, third, fourth] = ['first', 'second', 'third', 'fourth'].map((name) =>
    deadlines.add(() => expired.push(name)),
  )
  const pass = (seconds: number): void => {
    for (let i = 0; i < seconds; i++) {
      now += 1_000
      t.mock.timers.tick(1_000)
    }
  }
  pass(4)
  deadlines.add(() => expired.push('fifth'))
  deadlines.remove(first!)
  deadlines.remove(third!)
  deadlines.remove(third!)
  assert.deepEqual(expired, [])
  pass(2)
  assert.deepEqual(expired, ['second', 'fourth'])
  for (const expiredOne of [second, fourth]) deadlines.remove(expiredOne!)
  pass(4)
  assert.deepEqual(expired, ['second', 'fourth', 'fifth'])
})
