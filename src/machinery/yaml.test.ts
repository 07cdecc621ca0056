import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromYaml, parseYaml, toYaml, YamlError } from './yaml.ts'

test('scalars are parsed as in YAML 1.1', () => {
  assert.deepEqual(
    fromYaml('[yes, n, On, "yes", 0644, 0o17, 0x1F, 0b101, 1_000, 08, 1e3, .5, 1:30, ~, 2020-01-01, 1.2.3]'),
    [true, false, true, 'yes', 420, 15, 31, 5, 1000, 8, 1000, 0.5, '1:30', null, '2020-01-01', '1.2.3'],
  )
})

test('integers are exact up to unsigned 64 bits', () => {
  const texts = [
    '9223372036854775807',
    '-9223372036854775808',
    '9007199254740993',
    '-0x20000000000001',
    '0o777777777777777777777',
    '18446744073709551615',
  ]
  assert.deepEqual(fromYaml(`[${texts.join()}]`), [
    2n ** 63n - 1n,
    -(2n ** 63n),
    9007199254740993n,
    -(2n ** 53n) - 1n,
    2n ** 63n - 1n,
    2n ** 64n - 1n,
  ])
  assert.deepEqual(fromYaml('[9_007_199_254_740_993, 9007199254740991, 18446744073709551616, -9223372036854775809]'), [
    9007199254740993n,
    9007199254740991,
    2 ** 64,
    -(2 ** 63),
  ])
  assert.deepEqual(fromYaml('{"a": 9223372036854775807}'), { a: 2n ** 63n - 1n })
  assert.equal(
    toYaml({ a: 2n ** 63n - 1n, b: [-(2n ** 63n)], c: '9223372036854775807' }),
    'a: 9223372036854775807\nb:\n- -9223372036854775808\nc: "9223372036854775807"\n',
  )
})

test('keys are converted to strings, as in JSON', () => {
  assert.deepEqual(fromYaml('y: 1\n2: b\nnull: c\n'), { true: 1, '2': 'b', null: 'c' })
})

test('only the first document is returned, and an empty text is null', () => {
  assert.deepEqual(fromYaml('a: 1\n---\nb: 2\n'), { a: 1 })
  assert.equal(fromYaml(''), null)
  assert.equal(fromYaml('# nothing\n'), null)
})

test('repeated keys are reported with the line of the value, and the last one counts', () => {
  const { value, strict } = parseYaml('a: 1\nb:\n  c: 1\n  c:\n    - 2\na: 3\n')
  assert.deepEqual(value, { a: 3, b: { c: [2] } })
  assert.deepEqual(strict, [
    'yaml: unmarshal errors:\n  line 5: key "c" already set in map\n  line 6: key "a" already set in map',
  ])
})

test('merge keys work, and an explicit key that overrides a merged one is not a duplicate', () => {
  const { value, strict } = parseYaml('base: &b {x: 1, z: 2}\nd:\n  <<: *b\n  x: 5\n')
  assert.deepEqual(value, { base: { x: 1, z: 2 }, d: { x: 5, z: 2 } })
  assert.deepEqual(strict, [])
})

test('aliases are expanded up to a limit', () => {
  const levels = ['a: &a [x,x,x,x,x,x,x,x,x,x]']
  for (const [before, name] of ['ab', 'bc', 'cd', 'de', 'ef'].map((pair) => [...pair]))
    levels.push(`${name}: &${name} [${Array(10).fill(`*${before}`).join(',')}]`)
  assert.throws(() => fromYaml(levels.join('\n')), /excessive aliasing/)
  assert.throws(() => fromYaml('a: &x [*x]'), YamlError)
  assert.throws(() => fromYaml(`a: ${'['.repeat(2000)}`), YamlError)
})

test('the error for invalid YAML names the line', () => {
  assert.throws(() => fromYaml('a: 1\nb: ['), /^YamlError: error converting YAML to JSON: yaml: line \d: /)
})

test('__proto__ is a key like any other', () => {
  assert.equal(JSON.stringify(fromYaml('__proto__: {a: 1}\n')), '{"__proto__":{"a":1}}')
})

test('output has sorted keys, unindented lists and quotes around strings that 1.1 would not read as such', () => {
  assert.equal(
    toYaml({
      kind: 'X',
      b: ['yes', '1', '', 'plain', '0644', '2020-01-01T00:00:00Z'],
      a: { n: null, e: {}, l: [], t: 'two\nlines\n' },
    }),
    'a:\n  e: {}\n  l: []\n  "n": null\n  t: |\n    two\n    lines\nb:\n- "yes"\n- "1"\n- ""\n- plain\n- ' +
      '"0644"\n- "2020-01-01T00:00:00Z"\nkind: X\n',
  )
})

test('long lines are not folded, and output parses back to the same value', () => {
  const value = {
    long: 'word '.repeat(60),
    odd: [
      '~',
      'null',
      'y',
      '1e3',
      '- a',
      '#x',
      ' lead',
      'trail ',
      'a: b',
      'tab\t',
      '\u0007',
      '1_000',
      '0o17',
      '.inf',
      '=',
    ],
    o: [{ a: [[1, 2]] }],
  }
  const text = toYaml(value)
  assert.ok(text.split('\n').length < 30)
  assert.deepEqual(fromYaml(text), value)
})

test('documents after the first are not parsed', () => {
  assert.deepEqual(fromYaml('---\na: 1\n---\nb: 2\n---\nc: [\n'), { a: 1 })
  assert.deepEqual(fromYaml('a: |\n  ---\n  x\n  ---\n  ---\n'), { a: '---\nx\n---\n---\n' })
  assert.equal(fromYaml('---\n'.repeat(700_000)), null)
})

test('JSON is parsed as YAML', () => {
  assert.deepEqual(fromYaml('{"b":1,"a":{"d":"yes","c":null}}'), { a: { c: null, d: 'yes' }, b: 1 })
  assert.deepEqual(Object.keys(fromYaml('{"b":1,"a":2}') as object), ['a', 'b'])
  assert.deepEqual(parseYaml('{"a":1,"a":2}'), {
    value: { a: 2 },
    strict: ['yaml: unmarshal errors:\n  line 1: key "a" already set in map'],
  })
  assert.throws(() => fromYaml(`{"a":${'['.repeat(600)}${']'.repeat(600)}}`), /max depth|maxDepth/)
})

test('a text with more values than an object may have is rejected before it is constructed', () => {
  for (const text of [
    `[${'1,'.repeat(200_000)}1]`,
    `a:\n${'- x\n'.repeat(200_000)}`,
    `{"a":[${'1,'.repeat(200_000)}1]}`,
  ])
    assert.throws(() => fromYaml(text), { code: 413 })
})

test('a text with far too many values is rejected before it is parsed to the end', () => {
  for (const text of [
    `a: [${'1,'.repeat(500_000)}`,
    `a:\n${'- x\n'.repeat(250_000)}]`,
    `${Array.from({ length: 250_000 }, (_, i) => `k${i}: x`).join('\n')}\n]`,
  ])
    assert.throws(() => fromYaml(text), { code: 413 })
  assert.throws(() => fromYaml(`a: ${'['.repeat(600)}`), /nesting exceeded maxDepth \(500\)/)
})

test('the limit while parsing admits as many values as an object may have', () => {
  const forms: ((i: number) => string)[] = [
    (i) => `k${i}: v`,
    (i) => `? k${i}\n: v`,
    (i) => `"k${i}": &a${i} !!str v`,
    (i) => `k${i}: {}`,
    () => '- 1',
    () => '- - 1',
    () => '- a: b',
  ]
  for (const form of forms) fromYaml(Array.from({ length: 49_000 }, (_, i) => form(i)).join('\n'))
})
