import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throughProxy } from './own-address.ts'

const proxy = { own: '/api/v1/namespaces/a/pods/b/proxy', backend: '10.1.0.2:80', requested: 'localhost:6443' }

const cases: Readonly<Record<string, string>> = {
  '/': `${proxy.own}/`,
  '/login?a=1#b': `${proxy.own}/login?a=1#b`,
  '/a/../b/': `${proxy.own}/b/`,
  'http://10.1.0.2:80/x': `${proxy.own}/x`,
  '//10.1.0.2:80/x': `${proxy.own}/x`,
  'https://localhost:6443/x': `https://localhost:6443${proxy.own}/x`,
  [`${proxy.own}/x`]: `${proxy.own}/x`,
  'relative/x': 'relative/x',
  '#top': '#top',
  '?page=2': '?page=2',
  'http://example.com/x': 'http://example.com/x',
  '//example.com/x': '//example.com/x',
  'mailto:/a': 'mailto:/a',
  'data:text/plain,/x': 'data:text/plain,/x',
}

for (const [address, expected] of Object.entries(cases))
  test(`the address ${address} is ${address === expected ? 'kept' : 'rewritten'}`, () => {
    assert.equal(throughProxy(address, proxy), expected)
  })
