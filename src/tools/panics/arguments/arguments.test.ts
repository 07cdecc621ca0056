import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newCrash } from '../dump/crash.ts'
import { FrameMaker } from '../dump/frame.ts'
import { parseSignature } from '../go/parser.ts'
import { type Build, buildOf, type CallingConvention, layOut } from './index.ts'
import { parseWords, wordText } from './words.ts'

const wide: Build = { marks: false, wordBytes: 8 }

/** Returns the parts of a call as `name label word meaning`, and the notes. */
function laidOut(
  words: string,
  signature: string,
  convention: CallingConvention | undefined,
  build: Build = wide,
): { readonly parts: readonly string[]; readonly notes: string } {
  const frame = new FrameMaker().frame(`main.f(${words})`, '\t/x/main.go:1 +0x1')
  assert.ok(frame)
  const found = layOut(frame, parseSignature(signature), build, convention)
  assert.ok(found)
  const parts = found.values.flatMap(({ name, parts }) =>
    parts.map(({ label, word, meaning }) => [name, label, word, meaning ?? ''].join(' ').replace(/ +/g, ' ').trim()),
  )
  return { parts, notes: found.notes.join(' ') }
}

const example = 'func f(a int, b []int, c string, d [2]int64) error'

test('words of Go 1.16 and older are laid out as the memory of arguments and results', () => {
  assert.deepEqual(
    laidOut('0x7, 0xc00001c0a8, 0x3, 0x5, 0x4c1c1e, 0x2, 0x1, 0xffffffffffffffff, 0x4be8a0, 0xc00001', example, 'stack')
      .parts,
    [
      'a 0x7 7',
      'b pointer 0xc00001c0a8',
      'b length 0x3 3',
      'b capacity 0x5 5',
      'c pointer 0x4c1c1e',
      'c length 0x2 2',
      'd [0] 0x1 1',
      'd [1] 0xffffffffffffffff -1',
      'type 0x4be8a0',
      'data 0xc00001',
    ],
  )
})

test('Go prints at most ten words, so the other parts are shown as dots', () => {
  const { parts, notes } = laidOut(
    '0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xa, ...',
    'func f(a, b, c, d string, e string, g []int) error',
    'stack',
  )
  assert.deepEqual(parts.slice(8), [
    'e pointer 0x9 not an address',
    'e length 0xa 10',
    'g pointer ...',
    'g length ...',
    'g capacity ...',
    'type ...',
    'data ...',
  ])
  assert.match(notes, /at most ten words/)
  assert.match(notes, /Results|results/)
})

test('small values share a word', () => {
  assert.deepEqual(
    laidOut(
      '0xfffe01fd, 0x3ff8000000000000, 0x0',
      'func f(a int8, b bool, c int16, d float64) (ok bool, err *E)',
      'stack',
    ).parts,
    ['a 0xfd -3', 'b 0x1 true', 'c 0xfffe -2', 'd 0x3ff8000000000000 1.5', 'ok 0x0 false', 'err ?'],
  )
  // 32 bits: an int64 takes two words, with an alignment of one.
  assert.deepEqual(
    laidOut('0x1, 0x2, 0x1, 0xffffffff', 'func f(a int32, b int64, c int)', 'stack', { marks: false, wordBytes: 4 })
      .parts,
    ['a 0x1 1', 'b 0x100000002 4294967298', 'c 0xffffffff -1'],
  )
})

test('an unknown type ends the layout of memory, with a note', () => {
  const { parts, notes } = laidOut('0x1, 0x2', 'func f(a int, o Options, b int)', 'stack')
  assert.deepEqual(parts, ['a 0x1 1'])
  assert.match(notes, /type Options.*--src/)
})

test('words of newer Go are values, and stale ones are marked', () => {
  const { parts, notes } = laidOut(
    '0x7?, {0xc00001c0a8, 0x3?, 0x3}, {0x4c1c1e?, 0x7f0000000000?}, {0x5, 0x6}',
    example,
    undefined,
  )
  assert.deepEqual(parts, [
    'a 0x7? 7',
    'b pointer 0xc00001c0a8',
    'b length 0x3? 3',
    'b capacity 0x3 3',
    'c pointer 0x4c1c1e?',
    'c length 0x7f0000000000? too large: stale, or overwritten',
    'd [0] 0x5 5',
    'd [1] 0x6 6',
    '?',
  ])
  assert.match(notes, /\? may be stale/)
  assert.match(notes, /Results are not printed since Go 1\.17/)
})

test('gaps, empty structs, nesting and unknown types of newer Go', () => {
  const { parts } = laidOut(
    '_, {}, {0x1, {0x0, 0x2}}, {0x1, 0x2}, 0x0, ...',
    'func f(a int, e struct{}, p struct{ n int8; s string }, o Options, m map[string]int, z error, y int)',
    'register',
  )
  assert.deepEqual(parts, [
    'a ?',
    'e {} takes no memory',
    'p n 0x1 1',
    'p s pointer 0x0 nil',
    'p s length 0x2 2',
    'o word 1 0x1 a string, an interface or a struct of two',
    'o word 2 0x2',
    'm 0x0 nil',
    'z type ...',
    'z data ...',
    'y ...',
  ])
  assert.deepEqual(
    laidOut('{{{{...}}}}', 'func f(a struct{ b struct{ c struct{ d struct{ e int } } } })', undefined).parts,
    ['a b.c.d.e ...'],
  )
})

test('a signature with another number of values is reported', () => {
  assert.match(laidOut('0x1, 0x2', 'func f(a int)', 'register').notes, /has 2 values and the signature 1/)
  assert.match(laidOut('0x1', 'func f(a, b int)', 'register').notes, /only 1 of the 2/)
  assert.match(laidOut('0x1', 'func f(a, b int)', 'stack').notes, /has 1 words and the signature 2/)
})

test('the calling convention and the word size are derived from the output', () => {
  const make = new FrameMaker()
  const build = (...calls: readonly string[]): Build => {
    const crash = newCrash('panic', 1)
    const frames = calls.flatMap((call) => make.frame(call, '\t/x/main.go:1 +0x1') ?? [])
    crash.goroutines.push({ id: 1, state: 'running', minutes: 0, lockedToThread: false, notes: [], frames })
    return buildOf(crash)
  }
  assert.equal(build('panic({0x45e0a0, 0x4b2f38})').convention, 'register')
  assert.equal(build('panic(0x45e0a0, 0x4b2f38)').convention, 'stack')
  assert.equal(build('main.f(0x1?)').marks, true)
  assert.equal(build('main.f(0x1)').convention, undefined)
  assert.equal(build('main.f(0xc000074e40)').wordBytes, 8)
  assert.equal(build('main.f(0x9888ec0)').wordBytes, 4)
  // Without other evidence, the number of words decides.
  assert.equal(laidOut('0x1, 0x4c1c1e, 0x2, 0x0', 'func f(a int, s string) bool', undefined).parts.length, 4)
  assert.deepEqual(laidOut('0x1, 0x2', 'func f(a, b int) bool', undefined).parts, ['a 0x1 1', 'b 0x2 2', '?'])
})

test('an unknown type does not change the detected calling convention', () => {
  const make = new FrameMaker()
  const convention = (words: string, signature: string): string | undefined =>
    layOut(make.frame(`main.f(${words})`, '\t/x/main.go:1 +0x1')!, parseSignature(signature), wide)?.convention
  const calls: readonly (readonly [words: string, signature: string, expected: string])[] = [
    ['0x1, 0x2', 'func f(a int, b T) bool', 'register'],
    ['0x1, 0x2, 0x3', 'func f(a int, b T) bool', 'stack'],
    ['0x1, 0x2, 0x3, 0x4', 'func f(a T, b T) error', 'stack'],
    ['0x1, 0x2, 0x3', 'func f(a T, s string) ', 'stack'],
    ['0x1, 0x2, 0x3, 0x4', 'func f(a T, s string) bool', 'stack'],
    ['0x1', 'func f(a T)', 'register'],
    ['0x1, {0x2, 0x3}', 'func f(a T, s string) bool', 'register'],
    ['0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xa, ...', 'func f(a T, b, c, d, e string, g []int) error', 'stack'],
  ]
  for (const [words, signature, expected] of calls)
    for (const type of ['int', 'uintptr', 'unsafe.Pointer', 'Options', 'shop.Options', 'Set[string]', 'other.Thing'])
      assert.equal(convention(words, signature.replaceAll(/\bT\b/g, type)), expected, `${signature} with ${type}`)
})

test('parseWords parses printed words and rejects other text', () => {
  for (const text of ['0x1, {0x2?, _, {}}, ...', '', '{...}'])
    assert.equal(parseWords(text)?.map(wordText).join(', ').replaceAll('?', ''), text.replaceAll(/[?_]/g, ''))
  for (const text of ['hello', '{0x1', '0x1}', '1, 2']) assert.equal(parseWords(text), undefined, text)
})
