import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSignature } from './parser.ts'
import { parseSourceFile } from './source-file.ts'
import type { Field } from './types.ts'

const shown = (fields: readonly Field[]): string =>
  fields.map(({ name, type }) => `${name} ${type.text} ${type.kind}`.trim()).join('; ')

test("signatures in Go's syntax are parsed", () => {
  const cases: readonly (readonly [string, string, string, string, string?])[] = [
    [
      'func test1(a int, b []int, c string, d [2]int64) error',
      'test1',
      'a int basic; b []int slice; c string string; d [2]int64 array',
      'error interface',
    ],
    [
      'func (s *Server) handle(a, b int, rest ...string) (n int, err error)',
      'handle',
      'a int basic; b int basic; rest ...string slice',
      'n int basic; err error interface',
      's *Server pointer',
    ],
    ['f()', 'f', '', ''],
    ['func f(int, context.Context, *T)', 'f', 'int basic; context.Context interface; *T pointer', ''],
    [
      'func f(m map[string][]int, c <-chan int, d chan<- bool, g func(int) (string, error)) (chan int)',
      'f',
      'm map[string][]int pointer; c <-chan int pointer; d chan<- bool pointer; g func(int) (string, error) pointer',
      'chan int pointer',
    ],
    [
      'func f(l List[int], p Pair[K, V]) interface{ Close() error }',
      'f',
      'l List[int] named; p Pair[K, V] named',
      'interface{ Close() error } interface',
    ],
    ['func Map[T any, U comparable](in []T, f func(T) U) []U', 'Map', 'in []T slice; f func(T) U pointer', '[]U slice'],
    ['func (List[T]) Len() int', 'Len', '', 'int basic', 'List[T] named'],
    [
      'func f(p struct{ X, Y int; Name string }, e struct{})',
      'f',
      'p struct{ X, Y int; Name string } struct; e struct{} struct',
      '',
    ],
  ]
  for (const [text, name, parameters, results, receiver] of cases) {
    const signature = parseSignature(text)
    assert.equal(signature.name, name, text)
    assert.equal(shown(signature.parameters), parameters, text)
    assert.equal(shown(signature.results), results, text)
    assert.equal(signature.receiver && shown([signature.receiver]), receiver, text)
  }
})

test('a text that is not a signature is an error with the position and an example', () => {
  for (const text of [
    'func',
    'func f',
    'func f(',
    'func f(a int',
    'func f(a int) error junk',
    'f(a b c)',
    '',
    '(((((',
    `f(${'['.repeat(5000)})`,
    `f(${'*'.repeat(5000)}int)`,
  ]) {
    assert.throws(
      () => parseSignature(text),
      /is not a Go signature \(at .*write it as in the source, such as/,
      text.slice(0, 40),
    )
  }
})

test('functions, literals and types of a source file are found with their lines', () => {
  const { functions, types } = parseSourceFile(`package main

// func commented() {
type point struct { x, y int64; string }
type (
	names []string
	alias = map[string]int
)
type pair[T any] struct { a, b T }

func (p *point) move(by point) (err error) {
	text := "func quoted() {" + \`func raw() {\`
	go func(n int) {
		if n > 0 { return }
	}(1)
	return nil
}

var f func(int) string
`)
  assert.deepEqual(
    functions.map(({ signature, isLiteral, firstLine, lastLine }) => [signature.name, isLiteral, firstLine, lastLine]),
    [
      ['move', false, 11, 17],
      ['', true, 13, 15],
    ],
  )
  assert.deepEqual([...types.keys()], ['point', 'names', 'alias'])
  const point = types.get('point')
  assert.equal(point?.kind === 'struct' && shown(point.fields), 'x int64 basic; y int64 basic; string string string')
})
