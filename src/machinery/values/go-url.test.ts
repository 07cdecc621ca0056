import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRequestUri, parseUrl } from './go-url.ts'

test('a URL is split into the same parts as in Go', () => {
  const parts = (text: string): readonly string[] => {
    const { scheme, host, hostname, port, escapedPath } = parseUrl(text)
    return [scheme, host, hostname, port, escapedPath]
  }
  const cases: readonly (readonly [string, readonly string[]])[] = [
    [
      'https://user:pass@example.com:80/path?query=val#fragment',
      ['https', 'example.com:80', 'example.com', '80', '/path'],
    ],
    ['HTTPS://Example.com', ['https', 'Example.com', 'Example.com', '', '']],
    ['/absolute-path', ['', '', '', '', '/absolute-path']],
    ['https://[::1]:80/', ['https', '[::1]:80', '::1', '80', '/']],
    ['https://[::1]/', ['https', '[::1]', '::1', '', '/']],
    ['https://[fe80::1%25en0]:8080/', ['https', '[fe80::1%en0]:8080', 'fe80::1%en0', '8080', '/']],
    ['https://example.com/path with spaces/', ['https', 'example.com', 'example.com', '', '/path%20with%20spaces/']],
    ['https://example.com/a%2Fb', ['https', 'example.com', 'example.com', '', '/a%2Fb']],
    ['https://example.com/é', ['https', 'example.com', 'example.com', '', '/%C3%A9']],
    ['https://b%C3%BCcher.example/', ['https', 'bücher.example', 'bücher.example', '', '/']],
    ['mailto:joe@example.com', ['mailto', '', '', '', '']],
    ['https:://kubernetes.io/', ['https', '', '', '', '']],
    ['//host/path', ['', 'host', 'host', '', '/path']],
    ['https://example.com:/', ['https', 'example.com:', 'example.com', '', '/']],
  ]
  for (const [text, expected] of cases) assert.deepEqual(parts(text), expected, text)
})

test('a key of a query may have several values', () => {
  const query = (text: string): object => Object.fromEntries(parseUrl(text).query)
  assert.deepEqual(query('https://example.com/path?k1=a&k2=b&k2=c'), { k1: ['a'], k2: ['b', 'c'] })
  assert.deepEqual(query('https://example.com/path?key with spaces=value with spaces'), {
    'key with spaces': ['value with spaces'],
  })
  assert.deepEqual(query('/?a=1+2%2B&b&&c;d=1&e=%zz&%C3%A9=x'), { a: ['1 2+'], b: [''], é: ['x'] })
  assert.deepEqual(query('https://example.com/path?'), {})
  assert.deepEqual(query('https://example.com/path'), {})
})

test("an invalid request URI fails with Go's message", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'parse "": empty url'],
    ['../relative-path', 'parse "../relative-path": invalid URI for request'],
    ['https://a:b:c/', 'parse "https://a:b:c/": invalid port ":b:c" after host'],
    ['https://a b/', 'parse "https://a b/": invalid character " " in host name'],
    ['https://host:80:80/', 'parse "https://host:80:80/": invalid port ":80:80" after host'],
    ['https://[1.2.3.4]/', 'parse "https://[1.2.3.4]/": invalid IP-literal'],
    ['https://[host]/', 'parse "https://[host]/": invalid host: ParseAddr("host"): unable to parse IP'],
    ['https://[::1/', 'parse "https://[::1/": missing \']\' in host'],
    ['https://[::1]80/', 'parse "https://[::1]80/": invalid port "80" after host'],
    ['/%zz', 'parse "/%zz": invalid URL escape "%zz"'],
    ['/%4', 'parse "/%4": invalid URL escape "%4"'],
    ['https://%41.com/', 'parse "https://%41.com/": invalid URL escape "%41"'],
    [':foo', 'parse ":foo": missing protocol scheme'],
    ['/a\n', 'parse "/a\\n": net/url: invalid control character in URL'],
    ['https://us er@host/', 'parse "https://us er@host/": net/url: invalid userinfo'],
  ]
  for (const [text, message] of cases) assert.throws(() => checkRequestUri(text), { name: 'UrlError', message }, text)
  for (const text of ['*', '/', 'https://example.com', '/a?b=%zz', '//host/path', 'mailto:x']) checkRequestUri(text)
})

test('URLs with the same parts have the same identity', () => {
  assert.equal(parseUrl('https://example.com/').identity, parseUrl('HTTPS://example.com/').identity)
  assert.notEqual(parseUrl('https://example.com/').identity, parseUrl('https://example.com').identity)
  assert.notEqual(parseUrl('https://a@example.com/').identity, parseUrl('https://b@example.com').identity)
})
