import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { environment } from '../index.ts'
import { bytesType, intType, listType, mapType, objectType, sized, stringType, type Type } from '../types.ts'

const thing = objectType('Thing', { number: intType })
const text = (length: number): Type => sized(stringType, length)
const maps = (outer: number, keys: number, inner: number): Type =>
  mapType(text(keys), mapType(stringType, thing, inner), outer)

/** Expression, variables, and cel-go's minimum and maximum estimate. */
const known: readonly (readonly [string, Readonly<Record<string, Type>>, number, number])[] = [
  ['"Hello World!"', {}, 0, 0],
  ['input', { input: listType(intType) }, 1, 1],
  ["input['key']", { input: mapType(stringType, stringType) }, 2, 2],
  ['input.number', { input: thing }, 2, 2],
  ['has(input.number)', { input: thing }, 1, 1],
  ['[1, 2, 3]', {}, 10, 10],
  ['{"a": 1, "b": 2, "c": 3}', {}, 30, 30],
  ['input.all(x, true)', { input: listType(thing, 100) }, 2, 302],
  ['input.all(x, x.all(y, true))', { input: listType(listType(thing, 10), 50) }, 2, 1752],
  ['[1, 2, 3].all(x, true)', {}, 20, 20],
  ["input.matches('[0-9]')", { input: text(500) }, 3, 103],
  ["'123'.matches('[0-9]')", {}, 2, 2],
  ['true || false', {}, 0, 0],
  ['1 < 2', {}, 1, 1],
  ['1 == 2', {}, 1, 1],
  ['2 in [1, 2, 3]', {}, 13, 13],
  ['true ? 1 : 2', {}, 0, 0],
  ['size("123")', {}, 1, 1],
  ['string(input)', { input: sized(bytesType, 500) }, 1, 51],
  ['bytes(input)', { input: text(500) }, 1, 51],
  ['input.contains(arg1)', { input: text(500), arg1: text(500) }, 2, 2502],
  ["input.matches('\\\\d+a\\\\d+b')", { input: text(500) }, 3, 103],
  ['input.startsWith(arg1)', { input: stringType, arg1: text(500) }, 2, 52],
  ['input.size()', { input: stringType }, 2, 2],
  [
    '(x > 2 ? input1 : input2).all(y, true)',
    { x: intType, input1: listType(thing, 1), input2: listType(thing, 1) },
    4,
    7,
  ],
  ['input.all(k, input[k].number > 3)', { input: mapType(stringType, thing, 10) }, 2, 82],
  ['input.all(k, input[k].all(x, true))', { input: maps(5, 10, 10) }, 2, 187],
  ['input.all(k, k.contains(k))', { input: maps(5, 10, 10) }, 2, 32],
  ['input.all(k, input[k].all(k, true) && k.contains(k))', { input: maps(2, 5, 2) }, 2, 34],
  ['(list1 + list2).all(x, true)', { list1: listType(intType, 10), list2: listType(intType, 10) }, 4, 64],
  ['"abcdefg".contains(str1 + str2)', { str1: text(10), str2: text(10) }, 2, 6],
]

suite('the estimated cost', () => {
  for (const [source, variables, min, max] of known)
    test(source, () => {
      const compiled = environment({ variables }).compile(source)
      assert.ok('program' in compiled, 'errors' in compiled ? compiled.errors : '')
      assert.deepEqual(compiled.program.estimatedCost, { min, max })
    })
})

test('the estimate is unbounded without declared sizes', () => {
  const compiled = environment({ variables: { input: listType(listType(stringType)) } }).compile(
    'input.all(x, x.all(y, y == "a"))',
  )
  assert.ok('program' in compiled)
  assert.equal(compiled.program.estimatedCost.max, 2 ** 64)
})
