import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { floatTexts, mayHaveLongIntegers, parseExactJson, parseJson, writeJson } from './exact-json.ts'

/** A seeded generator of numbers from 0 to 1. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

const most = 2n ** 63n - 1n

/** Integers of all sizes, mostly beyond the safe integers. */
function integers(seed: number, count: number): bigint[] {
  const random = randomOf(seed)
  const one = (): bigint =>
    BigInt.asIntN(64, (BigInt(Math.floor(random() * 2 ** 32)) << 32n) | BigInt(Math.floor(random() * 2 ** 32))) >>
    BigInt(Math.floor(random() * 64))
  return [
    0n,
    most,
    -most - 1n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n) + 1n,
    -(2n ** 53n),
    -(2n ** 53n) - 1n,
    ...Array.from({ length: count }, one),
  ]
}

describe('integers of 64 bits', () => {
  test('are written as they were read', () => {
    for (const value of integers(1, 2000)) {
      const text = `{"a":${value},"b":[${value},{"c": ${value} }],"d":"${value}"}`
      assert.equal(writeJson(parseJson(text)), text.replaceAll(' ', ''))
      assert.equal(writeJson(parseExactJson(text)), text.replaceAll(' ', ''))
    }
  })

  test('are numbers if exact, else bigints', () => {
    assert.deepEqual(
      parseJson('[9007199254740991,9007199254740992,-9007199254740991,-9007199254740992,9223372036854775807]'),
      [9007199254740991, 9007199254740992n, -9007199254740991, -9007199254740992n, most],
    )
  })

  test('are supported at every position of a value', () => {
    for (const text of [
      '9007199254740993',
      ' 9007199254740993 ',
      '[1,9007199254740993]',
      '[\n9007199254740993]',
      '{"a":\t-9007199254740993}',
    ]) {
      assert.equal(writeJson(parseJson(text)), text.replaceAll(/\s/g, ''))
    }
  })
})

describe('other numbers', () => {
  test('are parsed as by JSON.parse', () => {
    const text = '[1.5,1e3,-0,0.1,1e21,0.12345678901234567890,9007199254740993e0,9007199254740993,1]'
    assert.deepEqual(parseJson(text), [
      1.5,
      1000,
      -0,
      0.1,
      1e21,
      0.12345678901234568,
      9007199254740992,
      9007199254740993n,
      1,
    ])
  })

  test('beyond 64 bits are floats, except with parseExactJson', () => {
    assert.deepEqual(parseJson('[9223372036854775808,-9223372036854775809]'), [2 ** 63, -(2 ** 63)])
    assert.deepEqual(parseExactJson('[9223372036854775808,-9223372036854775809]'), [2n ** 63n, -(2n ** 63n) - 1n])
    assert.equal(parseExactJson('9'.repeat(500)), Number.POSITIVE_INFINITY)
  })
})

describe('texts', () => {
  test('without long integers are not parsed with a reviver', () => {
    for (const text of [
      '{"a":"9223372036854775807"}',
      '{"a":1234567890123456}',
      '{"a":9007199254740991}',
      '{"sha":"sha256:12345678901234567890"}'.replace(':1', ':a1'),
      '{"uid":"12345678-1234-1234-1234-123456789012"}',
      '{"a":0.12345678901234567890}',
      '',
    ])
      assert.equal(mayHaveLongIntegers(text), false, text)
  })

  test('with long integers at any position are detected', () => {
    for (let before = 0; before < 40; before++)
      for (const digits of ['9007199254740993', '12345678901234567', '-9223372036854775808'])
        assert.equal(mayHaveLongIntegers(`["${'x'.repeat(before)}",${digits}]`), true, `${before} ${digits}`)
  })

  test('that are not JSON throw a SyntaxError', () => {
    for (const text of ['', '{"a":9007199254740993', '9007199254740993x', '[09007199254740993]'])
      assert.throws(() => parseJson(text), SyntaxError)
  })

  test('that are deeply nested are parsed', () => {
    const text = `${'['.repeat(50_000)}9007199254740993${']'.repeat(50_000)}`
    assert.ok(Array.isArray(parseJson(text)))
  })

  test('keep members of any name', () => {
    const value = parseJson('{"__proto__":9007199254740993}') as object
    assert.deepEqual(Object.entries(value), [['__proto__', 9007199254740993n]])
  })
})

test('bigints are written as integers even if BigInt.prototype has toJSON', () => {
  const prototype = BigInt.prototype as { toJSON?: () => string }
  prototype.toJSON = () => 'mine'
  try {
    assert.equal(writeJson({ a: [most], b: 1 }), '{"a":[9223372036854775807],"b":1}')
  } finally {
    delete prototype.toJSON
  }
})

test('values that JSON.stringify rejects throw the same errors', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  assert.throws(() => writeJson(circle), TypeError)
  assert.equal(writeJson(undefined), undefined)
})

test('floatTexts finds integers that are written as floats', () => {
  const texts = floatTexts('{"a":[1.0,1,1.5,-0],"b":1e3,"c":1e400,"d":9007199254740993,"e":1e-400}')
  const { a, b, c, d, e } = texts!.value as { a: unknown[]; b: symbol; c: symbol; d: bigint; e: symbol }
  assert.deepEqual(
    [...a, b, c, d, e].map((value) => (typeof value === 'symbol' ? value.description : value)),
    ['1.0', 1, 1.5, -0, '1e3', '1e400', 9007199254740993n, '1e-400'],
  )
  assert.equal(texts!.beyond, '1e400')
  assert.equal(floatTexts('[1,-0,1.5,9007199254740993]'), undefined)
})
