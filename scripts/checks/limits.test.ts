import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excessesOf } from './limits.ts'

const messages = (text: string): string[] =>
  excessesOf('a.ts', text).map(({ limit, line, message }) => `${limit} ${line}: ${message}`)
const lines = (count: number): string => 'x()\n'.repeat(count)

test('a file has at most 400 lines', () => {
  assert.deepEqual(messages(lines(400)), [])
  assert.deepEqual(messages(lines(401)), ['lines 1: 401 lines, at most 400'])
})

test('a line has at most 120 columns', () => {
  assert.deepEqual(messages('x'.repeat(120)), [])
  assert.deepEqual(messages(`\n${'x'.repeat(121)}`), ['columns 2: 121 columns, at most 120'])
})

test('a function of any form has at most 60 lines', () => {
  assert.deepEqual(messages(`function f() {\n${lines(58)}}\n`), [])
  for (const [text, name] of [
    [`function f() {\n${lines(59)}}`, 'f'],
    [`const f = () => {\n${lines(59)}}`, 'f'],
    [`const all = { f() {\n${lines(59)}} }`, 'f'],
    [`const all = { f: async () => {\n${lines(59)}} }`, 'f'],
    [`class A { #f() {\n${lines(59)}} }`, '#f'],
    [`class A { f = function () {\n${lines(59)}} }`, 'f'],
    [`all.forEach(() => {\n${lines(59)}})`, 'a callback'],
  ])
    assert.deepEqual(messages(`\n${text}`), [`function 2: ${name} has 61 lines, at most 60`], text)
})

test('a function inside of another one counts for both', () => {
  assert.deepEqual(messages(`function f() {\n  function g() {\n${lines(59)}  }\n}\n`), [
    'function 1: f has 63 lines, at most 60',
    'function 2: g has 61 lines, at most 60',
  ])
})

test('the callback of a test is not limited, a function inside is', () => {
  const title = "test('a title', async () => {"
  assert.deepEqual(messages(`import { test } from 'node:test'\n${title}\n${lines(59)}})`), [])
  assert.deepEqual(messages(`import { it as test } from 'node:test'\n${title}\n${lines(59)}})`), [])
  assert.deepEqual(messages(`import test from 'node:test'\n${title}\n${lines(59)}})`), [])
  assert.deepEqual(messages(`import { test } from 'elsewhere'\n${title}\n${lines(59)}})`), [
    'function 2: a callback has 61 lines, at most 60',
  ])
  assert.deepEqual(messages(`import { test } from 'node:test'\n${title}\nconst f = () => {\n${lines(59)}}\n})`), [
    'function 3: f has 61 lines, at most 60',
  ])
})
