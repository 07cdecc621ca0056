import assert from 'node:assert/strict'
import test from 'node:test'
import { parseBackendName } from './backend-name.ts'

test('a name may have a port, and then also a scheme', () => {
  assert.deepEqual(parseBackendName('web'), { scheme: '', name: 'web', port: '' })
  assert.deepEqual(parseBackendName('web:80'), { scheme: '', name: 'web', port: '80' })
  assert.deepEqual(parseBackendName('https:web:'), { scheme: 'https', name: 'web', port: '' })
  assert.deepEqual(parseBackendName(':web:http'), { scheme: '', name: 'web', port: 'http' })
  for (const text of ['', ':80', 'ftp:web:80', 'a:b:c:d', 'HTTP:web:80'])
    assert.equal(parseBackendName(text), undefined, text)
})
