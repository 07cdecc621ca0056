import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deadlines } from './deadlines.ts'

test('keys are due at their last deadline', () => {
  const deadlines = new Deadlines()
  deadlines.set('/a', 10)
  deadlines.set('/b', 10)
  deadlines.set('/a', 20)
  assert.equal(deadlines.earliest, 10)
  assert.deepEqual(deadlines.due(9), [])
  assert.deepEqual(deadlines.due(19), ['/b'])
  deadlines.delete('/b')
  assert.equal(deadlines.earliest, 20)
  assert.deepEqual(deadlines.due(20), ['/a'])
})

test('a key whose deadline is unknown is never due', () => {
  const deadlines = new Deadlines()
  deadlines.set('/a')
  assert.ok(deadlines.has('/a'))
  assert.equal(deadlines.earliest, undefined)
  assert.deepEqual(deadlines.due(1e12), [])
  assert.deepEqual([...deadlines.unknown()], ['/a'])
  deadlines.set('/a', 5)
  assert.deepEqual([...deadlines.unknown()], [])
  deadlines.delete('/a')
  assert.ok(!deadlines.has('/a'))
})
