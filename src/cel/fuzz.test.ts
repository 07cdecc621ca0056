import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adapt, environment } from './index.ts'
import { bindingsLibrary } from './libraries/bindings.ts'
import { dynType } from './types.ts'

/** Returns a deterministic generator of numbers below `n`. */
function random(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

const leaves = [
  '1',
  '2u',
  '1.5',
  '"a"',
  'b"\\xff"',
  'true',
  'null',
  '[]',
  '{}',
  'self',
  'self.list',
  'self.map',
  'x',
  '-9223372036854775808',
  'duration("1s")',
  'int',
]
const shapes = [
  'A + B',
  'A - B',
  'A * B',
  'A / B',
  'A % B',
  'A == B',
  'A != B',
  'A < B',
  'A in B',
  'A && B',
  'A || B',
  '!A',
  '-A',
  'A ? B : C',
  '[A, B]',
  '[?A]',
  '{A: B}',
  'A[B]',
  'A[?B]',
  'A.f',
  'A.?f',
  'has(A.f)',
  'dyn(A)',
  'size(A)',
  'type(A)',
  'string(A)',
  'int(A)',
  'double(A)',
  'A.matches(B)',
  'A.contains(B)',
  'A.all(x, B)',
  'A.exists(x, B)',
  'A.exists_one(x, B)',
  'A.map(x, B)',
  'A.filter(x, B)',
  'A.map(x, B, C)',
  'A.all(i, x, B)',
  'A.transformMap(i, x, B)',
  'A.transformList(i, x, B)',
  'cel.bind(x, A, B)',
  'A.optMap(x, B)',
  'optional.of(A)',
  'A.orValue(B)',
  '(A)',
  'dyn(A).all(x, B)',
  'dyn(A) + B',
  'dyn(A) < dyn(B)',
]

const env = environment({ libraries: [bindingsLibrary], variables: { self: dynType, x: dynType } })
const list = Array.from({ length: 50 }, (_, index) => index)
const bindings = { self: adapt({ list, map: { a: 1, f: [1] }, f: { f: 2 } }, dynType), x: 3n }

test('random expressions neither throw nor hang, at compile time and at evaluation', () => {
  const below = random(7)
  const make = (depth: number): string =>
    depth === 0
      ? (leaves[below(leaves.length)] as string)
      : (shapes[below(shapes.length)] as string).replace(/\b[ABC]\b/g, () => make(below(depth)))
  let evaluated = 0
  for (let round = 0; round < 4000; round++) {
    const source = make(1 + below(5))
    const compiled = env.compile(source)
    if ('errors' in compiled) continue
    const outcome = compiled.program.evaluate(bindings, 20_000)
    assert.ok(outcome.cost < 200_000_000, source)
    assert.ok(compiled.program.estimatedCost.min <= compiled.program.estimatedCost.max, source)
    evaluated++
  }
  assert.ok(evaluated > 300, `only ${evaluated} of them compiled`)
})

test('random text compiles or is rejected, and does not throw', () => {
  const below = random(11)
  const pieces = [
    ...'()[]{}.,:?!+-*/%<>=&|"\'`\\ \n1a_',
    '"""',
    "r'",
    'in',
    '==',
    '&&',
    'has(',
    '.all(x,',
    '0x',
    '1e',
    '1u',
    'true',
    'é',
    '👑',
    '\ud800',
  ]
  for (let round = 0; round < 4000; round++) {
    const source = Array.from({ length: 1 + below(20) }, () => pieces[below(pieces.length)]).join('')
    const compiled = env.compile(source)
    assert.ok('errors' in compiled ? compiled.errors.startsWith('ERROR: <input>:') : compiled.program, source)
  }
})
