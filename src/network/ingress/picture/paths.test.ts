import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAuthority, patternsFor } from './hosts.ts'
import { replacePrefix, splitTarget, withoutDotSegments } from './paths.ts'

test('dot segments are removed from paths, also encoded ones', () => {
  for (const [path, expected] of [
    ['/a/b', '/a/b'],
    ['/a/./b', '/a/b'],
    ['/public/../admin', '/admin'],
    ['/public/%2e%2E/admin', '/admin'],
    ['/public/.%2e/admin', '/admin'],
    ['/..', '/'],
    ['/a/..', '/'],
    ['/a/b/.', '/a/b/'],
    ['/../../etc/passwd', '/etc/passwd'],
    ['/a..b/...', '/a..b/...'],
  ] as const)
    assert.equal(withoutDotSegments(path), expected, path)
})

test('a prefix is replaced by whole elements', () => {
  for (const [path, prefix, replacement, expected] of [
    ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
    ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
    ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
    ['/foo', '/foo', '/xyz', '/xyz'],
    ['/foo/', '/foo', '/xyz', '/xyz'],
    ['/foo/bar', '/foo', '', '/bar'],
    ['/foo/', '/foo', '', '/'],
    ['/foo', '/foo', '/', '/'],
    ['/foo', '/', '/xyz', '/xyz/foo'],
  ] as const)
    assert.equal(replacePrefix(path, prefix, replacement), expected, `${path} ${prefix} ${replacement}`)
})

test('a target is split into path and query', () => {
  assert.deepEqual(splitTarget('/a?b=c?d'), { path: '/a', query: '?b=c?d' })
  assert.deepEqual(splitTarget('/a#b?c'), { path: '/a', query: '' })
})

test('an authority is a name or an address, with a port or without', () => {
  assert.deepEqual(parseAuthority('Example.COM.:8080'), { host: 'example.com', port: 8080 })
  assert.deepEqual(parseAuthority('[FD00::1]:80'), { host: 'fd00::1', port: 80 })
  assert.deepEqual(parseAuthority('10.0.0.1'), { host: '10.0.0.1', port: undefined })
  for (const text of ['', 'a b', 'a/b', 'user@host', '[::g]', 'host:70000', 'fd00::1', ':80'])
    assert.equal(parseAuthority(text), undefined, text)
})

test('patterns of a host go from the most specific to any', () => {
  assert.deepEqual(patternsFor('a.b.c'), [['a.b.c'], ['*.b.c', '**.b.c'], ['**.c'], ['']])
  assert.deepEqual(patternsFor('10.0.0.1'), [['10.0.0.1'], ['']])
})
