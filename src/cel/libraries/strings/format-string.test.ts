import assert from 'node:assert/strict'
import { test } from 'node:test'
import { intType, stringType } from '../../types.ts'
import { Duration, OptionalValue, Timestamp, TypeValue, UInt, type Value } from '../../values.ts'
import { faultOf, list, map } from '../call.fixture.ts'
import { formatString } from './format-string.ts'

const format = (text: string, ...args: Value[]): string => formatString(text, list(...args))
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const moment = new Timestamp(1675467080n * 1_000_000_000n)

const cases: readonly (readonly [string, readonly Value[], string])[] = [
  ['no substitution', [], 'no substitution'],
  ['str is %s and some more', ['filler'], 'str is filler and some more'],
  ['%% and also %%', [], '% and also %'],
  ['%%%s%%', ['text'], '%text%'],
  ['%.3f', [1.2345], '1.234'],
  ['%f', [2.71929], '2.719290'],
  ['%f, %f, %f', ['NaN', 'Infinity', '-Infinity'], 'NaN, ∞, -∞'],
  ['%.2f', [1234567.8], '1,234,567.80'],
  ['%e', [2.71929], '2.719290\u202f×\u202f10⁰⁰'],
  ['%b %b %b %b', [5n, -5n, new UInt(64n), true], '101 -101 1000000 1'],
  ['%o %o', [11n, -11n], '13 -13'],
  ['%x %X %x', [30n, 30n, -30n], '1e 1E -1e'],
  ['%x %X', ['Hello world!', 'Hello world!'], '48656c6c6f20776f726c6421 48656C6C6F20776F726C6421'],
  ['%x', [bytes('\x00byte')], '0062797465'],
  ['%d %d', [-3n, new UInt(64n)], '-3 64'],
  ['%s', [2.71], '2.71'],
  ['%s', [2e-9], '2e-09'],
  ['%s', [list(2.71, 2e-9)], '[2.710000, 0.000000]'],
  ['%s', [list(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)], '["NaN", "+Inf", "-Inf"]'],
  ['%s %s', [null, 999999999999n], 'null 999999999999'],
  ['%s', [bytes('xyz')], 'xyz'],
  ['type is %s', [new TypeValue(stringType)], 'type is string'],
  ['%s', [moment], '2023-02-03T23:31:20Z'],
  ['%s %s', [new Duration(6347n * 1_000_000_000n), new Duration(2n)], '6347s 0.000000002s'],
  [
    '%s',
    [list('abc', 3.14, null, list(9n, 8n), moment)],
    '["abc", 3.140000, null, [9, 8], timestamp("2023-02-03T23:31:20Z")]',
  ],
  [
    '%s',
    [
      map(
        ['key1', bytes('xyz')],
        ['key5', null],
        ['key2', new Duration(7200n * 1_000_000_000n)],
        ['key4', true],
        ['key3', 2.71929],
      ),
    ],
    '{"key1":b"xyz", "key2":duration("7200s"), "key3":2.719290, "key4":true, "key5":null}',
  ],
  ['%s', [map(['strKey', 'x'], [true, 42n], [6n, 1n])], '{"strKey":"x", 6:1, true:42}'],
]

for (const [text, args, expected] of cases) {
  test(`${text} is ${expected}`, () => {
    assert.equal(format(text, ...args), expected)
  })
}

const during = 'error during formatting: '
const unreadable = 'could not parse formatting clause: '
const onlyStrings =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and ' +
  'timestamps, was given optional_type'
const faults: readonly (readonly [string, readonly Value[], string])[] = [
  ['%a', [1n], `${unreadable}unrecognized formatting clause "a"`],
  ['%E', [1n], `${unreadable}unrecognized formatting clause "E"`],
  ['%d %d %d', [0n, 1n], 'index 2 out of range'],
  ['filler %', [1n], 'unexpected end of string'],
  ['double is %.34', [5], `${unreadable}error while parsing precision: could not find end of precision specifier`],
  [
    '%.f',
    [5],
    `${unreadable}error while parsing precision: error while converting precision to integer: strconv.Atoi: ` +
      'parsing "": invalid syntax',
  ],
  ['%b', ['abc'], `${during}only integers and bools can be formatted as binary, was given string`],
  [
    '%d',
    [new Duration(1n)],
    `${during}decimal clause can only be used on integers, was given google.protobuf.Duration`,
  ],
  ['%o', ['a'], `${during}octal clause can only be used on integers, was given string`],
  ['%x', [0.5], `${during}only integers, byte buffers, and strings can be formatted as hex, was given double`],
  ['%s', [OptionalValue.none], `${during}${onlyStrings}`],
  ['%e', [null], `${during}scientific clause can only be used on doubles, was given null_type`],
  ['%f', [new TypeValue(intType)], `${during}fixed-point clause can only be used on doubles, was given type`],
]

for (const [text, args, expected] of faults) {
  test(`${text}: ${expected}`, () => {
    assert.equal(
      faultOf(() => format(text, ...args)),
      expected,
    )
  })
}

test('the length of a formatted text is limited', () => {
  assert.match(format('%.1000001f', 1), /^%!\(BADPREC\)1\.000000$/)
  assert.match(
    faultOf(() => format('%.1000000f'.repeat(100), ...Array<Value>(100).fill(1))),
    /^formatted text is longer than/,
  )
})
