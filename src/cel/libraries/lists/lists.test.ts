import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Duration, Timestamp, UInt, type Value } from '../../values.ts'
import { call, faultOf, list, map, plain } from '../call.fixture.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('isSorted is true if no element is greater than the next', () => {
  assert.equal(call('list_int_is_sorted_bool', list(1n, 2n, 2n, 3n)), true)
  assert.equal(call('list_double_is_sorted_bool', list(2, 1)), false)
  assert.equal(call('list_string_is_sorted_bool', list('a', '\uffff', '😀')), true)
  assert.equal(call('list_bytes_is_sorted_bool', list(bytes('b'), bytes('a'))), false)
  assert.equal(call('list_bool_is_sorted_bool', list(false, true, false)), false)
  assert.equal(call('list_timestamp_is_sorted_bool', list(new Timestamp(1n), new Timestamp(2n))), true)
  assert.equal(call('list_int_is_sorted_bool', list()), true)
})

test('sum has the type of the elements, and is zero for an empty list', () => {
  assert.equal(call('list_int_sum_int', list(1n, 3n)), 4n)
  assert.equal(call('list_double_sum_double', list(1, 3.5)), 4.5)
  assert.equal(plain(call('list_uint_sum_uint', list(new UInt(1n), new UInt(2n)))), '3u')
  assert.equal(plain(call('list_duration_sum_duration', list(new Duration(60n), new Duration(1n)))), 61n)
  assert.equal(call('list_int_sum_int', list()), 0n)
  assert.equal(
    faultOf(() => call('list_int_sum_int', list(2n ** 63n - 1n, 1n))),
    'integer overflow',
  )
  assert.equal(
    faultOf(() => call('list_uint_sum_uint', list(new UInt(2n ** 64n - 1n), new UInt(1n)))),
    'unsigned integer overflow',
  )
})

test('min and max fail for an empty list', () => {
  assert.equal(call('list_int_min_int', list(2n, 1n, 3n)), 1n)
  assert.equal(call('list_string_max_string', list('a', 'c', 'b')), 'c')
  assert.equal(
    faultOf(() => call('list_int_min_int', list())),
    'min called on empty list',
  )
  assert.equal(
    faultOf(() => call('list_int_max_int', list())),
    'max called on empty list',
  )
})

test('indexOf finds an element by value, or returns -1', () => {
  assert.equal(call('list_a_index_of_int', list(1n, 2n, 2n, 3n), 2n), 1n)
  assert.equal(call('list_a_last_index_of_int', list('a', 'b', 'b', 'c'), 'b'), 2n)
  assert.equal(call('list_a_index_of_int', list(1), 1.1), -1n)
  assert.equal(call('list_a_index_of_int', list(), 'string'), -1n)
  assert.equal(call('list_a_index_of_int', list(Number.NaN), Number.NaN), -1n)
  assert.equal(call('list_a_index_of_int', list(map(['a', 1n]), map(['a', list(1n)])), map(['a', list(1)])), 1n)
})

test('set functions compare numbers of different types by value', () => {
  const cases: readonly (readonly [string, readonly Value[], readonly Value[], boolean])[] = [
    ['contains', [], [], true],
    ['contains', [], [1n], false],
    ['contains', [1n, 2, new UInt(3n)], [1, new UInt(2n), 3n], true],
    ['contains', [list(1n), list(2n, 3n)], [list(2n, 3)], true],
    ['contains', [1n], ['1', 1n], false],
    ['equivalent', [1n], [1n, 1], true],
    ['equivalent', [2n, 1n], [1n], false],
    ['intersects', [1n], [], false],
    ['intersects', [1n], [1n, 2n], true],
    ['intersects', [list(1n), list(2n, 3n)], [list(1n, 2n), list(2n, 3)], true],
    ['intersects', [2n ** 60n], [2 ** 60 + 512], false],
  ]
  for (const [name, a, b, expected] of cases)
    assert.equal(call(`list_sets_${name}_list`, list(...a), list(...b)), expected, name)
})

test('lists of any depth are sliced, flattened and sorted', () => {
  assert.deepEqual(plain(call('list_slice', list(1n, 2n, 3n, 4n), 1n, 3n)), [2n, 3n])
  assert.deepEqual(plain(call('list_flatten', list(1n, list(2n, list(3n)), list()))), [1n, 2n, [3n]])
  assert.deepEqual(plain(call('list_flatten_int', list(1n, list(2n, list(3n, list(4n)))), 2n)), [1n, 2n, 3n, [4n]])
  assert.deepEqual(plain(call('list_flatten_int', list(1n, list(2n)), 0n)), [1n, [2n]])
  let deep = list(1n)
  for (let i = 0; i < 20_000; i++) deep = list(deep)
  assert.deepEqual(plain(call('list_flatten_int', deep, 2n ** 62n)), [1n])
  assert.deepEqual(plain(call('list_reverse', list(5n, 3n, 1n))), [1n, 3n, 5n])
  assert.deepEqual(plain(call('list_distinct', list('b', 'b', 1n, 1, 'a', 'b'))), ['b', 1n, 'a'])
  assert.deepEqual(plain(call('lists_range', 3n)), [0n, 1n, 2n])
  assert.deepEqual(plain(call('list_string_sort', list('c', 'a', 'b'))), ['a', 'b', 'c'])
  assert.deepEqual(plain(call('list_google.protobuf.Duration_sort', list(new Duration(2n), new Duration(1n)))), [
    1n,
    2n,
  ])
  assert.deepEqual(plain(call('list_int_sortByAssociatedKeys', list('foo', 'bar', 'baz'), list(3n, 1n, 2n))), [
    'bar',
    'baz',
    'foo',
  ])
})

test("invalid slices, depths and sorts fail with CEL's messages", () => {
  const faults: readonly (readonly [() => Value, string])[] = [
    [() => call('list_slice', list(1n), 0n, 2n), 'cannot slice(0, 2), list is length 1'],
    [() => call('list_slice', list(1n), -1n, 1n), 'cannot slice(-1, 1), negative indexes not supported'],
    [
      () => call('list_slice', list(1n), 1n, 0n),
      'cannot slice(1, 0), start index must be less than or equal to end index',
    ],
    [() => call('list_flatten_int', list(), -1n), 'level must be non-negative'],
    [() => call('list_int_sort', list(1n, 'a')), 'list elements must have the same type'],
    [() => call('list_int_sort', list(list(1n))), 'list elements must be comparable'],
    [() => call('lists_range', -1n), 'lists.range: size must be non-negative, got -1'],
    [() => call('lists_range', 2n ** 62n), `lists.range: size ${2n ** 62n} exceeds maximum allowed (10000000)`],
  ]
  for (const [run, message] of faults) assert.equal(faultOf(run), message)
})
