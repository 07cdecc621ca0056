import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringSize } from '../evaluation/sizes.ts'
import type { Estimate, EstimatedNode } from '../library.ts'
import { bytesType, dynType, intType, listType, stringType, type Type } from '../types.ts'
import { Duration, type Value } from '../values.ts'
import { call, costOf, estimateOf, list, node } from './call.fixture.ts'
import { traversal } from './costs.ts'

/** The costs are upstream's, for the calls without their arguments. */
const between = (min: number, max: number): Estimate => ({ min, max })
const exact = (size: number): Estimate => between(size, size)
const text = (value: string): EstimatedNode => node(stringType, exact(stringSize(value)))
const scalar = (type: Type = dynType): EstimatedNode => node(type, exact(1))
const ip = (value: string): Value => call('string_to_ip', value)
const cidr = (value: string): Value => call('string_to_cidr', value)
const longIp = '2001:db8:3333:4444:5555:6666:7777:8888'

test('parsing a text costs a tenth of its length', () => {
  const calls: readonly (readonly [string, string, number])[] = [
    ['string_to_ip', '192.168.0.1', 2],
    ['string_to_ip', longIp, 4],
    ['string_to_cidr', '192.168.0.0/16', 2],
    ['ip_is_canonical', '192.168.0.1', 3],
    ['ip_is_canonical', longIp, 8],
    ['string_to_url', 'https:://kubernetes.io/', 3],
    ['string_to_quantity', '12Mi', 1],
    ['string_to_semver', '1.2.3', 1],
    ['string_lower_ascii', 'ABCDEFGHIJ abcdefghij', 3],
    ['string_trim', '  abc 123 def 123  ', 2],
    ['strings_quote', 'ABCDEFGHIJ abcdefghij', 3],
  ]
  for (const [id, argument, expected] of calls) {
    assert.equal(costOf(id, argument), expected, id)
    assert.deepEqual(estimateOf(id, text(argument)), exact(expected), id)
  }
})

test('the cost of string functions depends on the length of the strings', () => {
  const from = 'abc 123 def 123'
  assert.equal(costOf('string_replace_string_string', from, '123', '456'), 3)
  assert.deepEqual(estimateOf('string_replace_string_string', text(from), text('123'), text('456')), exact(3))
  assert.equal(costOf('string_split_string', from, ' '), 3)
  assert.equal(costOf('string_find_string', from, '123'), 2)
  assert.deepEqual(estimateOf('string_find_string', text(from), text('123')), exact(2))
  assert.equal(costOf('string_index_of_string', '01234567890123456789012345678901234567890123456789', '123'), 5)
  assert.deepEqual(estimateOf('string_index_of_string', node(stringType, exact(50)), text('123')), exact(5))
  assert.equal(costOf('string_format', 'str is %s and some more', list('filler')), 3)
})

test('the cost of join depends on the length of the result', () => {
  const values = ['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  const texts = node(listType(stringType), exact(10), node(stringType, between(0, 12)))
  assert.equal(costOf('list_join_string', list(...values), ' '), 5)
  assert.equal(costOf('list_join', list(...values)), 3)
  assert.deepEqual(estimateOf('list_join_string', texts, text(' ')), between(1, 13))
  assert.deepEqual(estimateOf('list_join', texts), between(0, 12))
})

test('list functions traverse a list once; estimates include the strings in it', () => {
  const five = (type: Type, size: Estimate): EstimatedNode => node(listType(type), exact(5), node(type, size))
  assert.equal(costOf('list_int_sum_int', list(1n, 2n, 3n, 4n, 5n)), 5)
  assert.deepEqual(estimateOf('list_int_sum_int', five(intType, exact(1))), exact(5))
  assert.equal(costOf('list_string_is_sorted_bool', list(...Array<Value>(5).fill('012345678901'))), 5)
  assert.deepEqual(estimateOf('list_string_is_sorted_bool', five(stringType, between(0, 12))), between(5, 15))
  assert.deepEqual(estimateOf('list_bytes_max_bytes', five(bytesType, between(0, 12))), between(5, 15))
  assert.equal(traversal(list(new Duration(1n), list('0123456789', 1n))), 3)
})

test('the cost of CIDR functions depends on the length of their texts', () => {
  const cases: readonly (readonly [string, string, Value, number, Estimate])[] = [
    ['cidr_contains_cidr', '192.168.0.0/16', cidr('192.0.0.0/30'), 3, between(3, 7)],
    ['cidr_contains_ip_ip', '192.168.0.0/16', ip('192.0.0.1'), 1, between(1, 4)],
    ['cidr_contains_ip_ip', '2001:db8::/32', ip('2001:db8::1'), 1, between(1, 4)],
  ]
  for (const [id, range, other, cost, estimate] of cases) {
    assert.equal(costOf(id, cidr(range), other), cost, id)
    assert.deepEqual(estimateOf(id, scalar(), scalar()), estimate, id)
  }
  // The texts are 12 and 38 characters long.
  assert.equal(costOf('cidr_contains_cidr_string', cidr('192.168.0.0/16'), '192.0.0.0/30'), 5)
  assert.deepEqual(estimateOf('cidr_contains_cidr_string', scalar(), text('192.0.0.0/30')), between(5, 9))
  assert.equal(costOf('cidr_contains_ip_string', cidr('2001:db8::/32'), longIp), 5)
  assert.deepEqual(estimateOf('cidr_contains_ip_string', scalar(), text(longIp)), between(5, 8))
})

test('set functions compare all pairs of elements', () => {
  const sized = (size: number): EstimatedNode => node(listType(dynType), exact(size))
  assert.equal(costOf('list_sets_contains_list', list(1n, 2n, 3n, 4n), list(2n, 3n)), 9)
  assert.deepEqual(estimateOf('list_sets_contains_list', sized(4), sized(2)), exact(9))
  assert.equal(costOf('list_sets_equivalent_list', list(1n, 2n, 3n), list(3n, 2n, 1n)), 19)
  assert.deepEqual(estimateOf('list_sets_equivalent_list', sized(3), sized(3)), exact(19))
  assert.equal(costOf('list_sets_intersects_list', list(), list()), 1)
})

test('the estimate for a format assumes a long pattern', () => {
  assert.equal(costOf('format-validate', call('format.dns1123Label'), 'my-label'), 8)
  assert.deepEqual(estimateOf('format-validate', scalar(), text('my-label')), exact(32))
})

test('the estimate for unknown sizes is unbounded', () => {
  const anything = node(stringType, between(0, 2 ** 64))
  assert.deepEqual(
    estimateOf('string_replace_string_string', anything, anything, anything),
    between(0, Math.ceil(2 ** 64 * 0.2)),
  )
  assert.deepEqual(estimateOf('string_find_string', anything, anything), between(0, 2 ** 64))
  assert.deepEqual(estimateOf('list_distinct', node(listType(dynType), between(0, 2 ** 64))), between(11, 2 ** 64))
})

test('the cost of a selector includes its requirements', () => {
  assert.deepEqual(estimateOf('authorizer_labelselector', scalar(), text('app=example')), exact(10 + 2 + 6 * 50))
})
