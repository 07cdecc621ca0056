import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Value } from '../../values.ts'
import { call, faultOf, list, plain } from '../call.fixture.ts'

const cases: readonly (readonly [string, readonly Value[], unknown])[] = [
  ['string_char_at_int', ['héllo😀', 1n], 'é'],
  ['string_char_at_int', ['a😀b', 2n], 'b'],
  ['string_char_at_int', ['hello', 5n], ''],
  ['string_index_of_string', ['hello mellow', 'ello'], 1n],
  ['string_index_of_string', ['hello mellow', 'jello'], -1n],
  ['string_index_of_string', ['hello', ''], 0n],
  ['string_index_of_string', ['😀x', 'x'], 1n],
  ['string_index_of_string_int', ['hello mellow', 'ello', 2n], 7n],
  ['string_index_of_string_int', ['hello mellow', 'ello', 20n], -1n],
  ['string_index_of_string_int', ['😀a😀a', 'a', 2n], 3n],
  ['string_last_index_of_string', ['hello mellow', 'ello'], 7n],
  ['string_last_index_of_string', ['hello mellow', ''], 12n],
  ['string_last_index_of_string', ['', 'a'], -1n],
  ['string_last_index_of_string_int', ['hello mellow', 'ello', 6n], 1n],
  ['string_last_index_of_string_int', ['hello mellow', 'ello', 20n], -1n],
  ['string_last_index_of_string_int', ['a😀a😀a', 'a', 3n], 2n],
  ['list_join', [list('hello', 'mellow')], 'hellomellow'],
  ['list_join_string', [list('hello', 'mellow'), ' '], 'hello mellow'],
  ['list_join_string', [list(), '/'], ''],
  ['string_lower_ascii', ['TacoCÆt Xii'], 'tacocÆt xii'],
  ['string_upper_ascii', ['TacoCæt Xii'], 'TACOCæT XII'],
  ['string_replace_string_string', ['hello hello', 'he', 'we'], 'wello wello'],
  ['string_replace_string_string', ['abc', '', '_'], '_a_b_c_'],
  ['string_replace_string_string', ['a.b.c', '.', '$&'], 'a$&b$&c'],
  ['string_replace_string_string_int', ['hello hello', 'he', 'we', -1n], 'wello wello'],
  ['string_replace_string_string_int', ['hello hello', 'he', 'we', 1n], 'wello hello'],
  ['string_replace_string_string_int', ['hello hello', 'he', 'we', 0n], 'hello hello'],
  ['string_replace_string_string_int', ['abc', '', '_', 2n], '_a_bc'],
  ['string_replace_string_string_int', ['abc', '', '_', 9n], '_a_b_c_'],
  ['string_split_string', ['hello hello hello', ' '], ['hello', 'hello', 'hello']],
  ['string_split_string', ['a😀', ''], ['a', '😀']],
  ['string_split_string', ['', ','], ['']],
  ['string_split_string_int', ['hello hello hello', ' ', 0n], []],
  ['string_split_string_int', ['hello hello hello', ' ', 1n], ['hello hello hello']],
  ['string_split_string_int', ['hello hello hello', ' ', 2n], ['hello', 'hello hello']],
  ['string_split_string_int', ['hello hello hello', ' ', -1n], ['hello', 'hello', 'hello']],
  ['string_split_string_int', ['abc', '', 2n], ['a', 'bc']],
  ['string_substring_int', ['tacocat', 4n], 'cat'],
  ['string_substring_int', ['ta©o😀', 4n], '😀'],
  ['string_substring_int_int', ['tacocat', 0n, 4n], 'taco'],
  ['string_substring_int_int', ['tacocat', 7n, 7n], ''],
  ['string_trim', [' \f\n\r\t\v\u0085\u2028\u3000x\u00a0 '], 'x'],
  ['string_trim', ['\u200b\ufeffx'], '\u200b\ufeffx'],
  ['strings_quote', ['a "b"\n\x07\\é'], '"a \\"b\\"\\n\\a\\\\é"'],
]

for (const [id, args, expected] of cases) {
  test(`${id} of ${JSON.stringify(args.map(String))}`, () => {
    assert.deepEqual(plain(call(id, ...args)), expected)
  })
}

test('positions out of range fail', () => {
  assert.equal(
    faultOf(() => call('string_char_at_int', 'hello', -1n)),
    'index out of range: -1',
  )
  assert.equal(
    faultOf(() => call('string_char_at_int', 'hello', 6n)),
    'index out of range: 6',
  )
  assert.equal(
    faultOf(() => call('string_index_of_string_int', 'hello', 'l', -1n)),
    'index out of range: -1',
  )
  assert.equal(
    faultOf(() => call('string_last_index_of_string_int', 'hello', 'l', -1n)),
    'index out of range: -1',
  )
  assert.equal(
    faultOf(() => call('string_substring_int', 'tacocat', 40n)),
    'index out of range: 40',
  )
  assert.equal(
    faultOf(() => call('string_substring_int_int', 'tacocat', 2n, 1n)),
    'invalid substring range. start: 2, end: 1',
  )
  assert.equal(
    faultOf(() => call('string_substring_int_int', 'tacocat', 0n, 8n)),
    'index out of range: 8',
  )
})
