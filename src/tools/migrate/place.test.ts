import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExplainedError } from '../../lib/explained-error.ts'
import { placeOf, showPlace } from './place.ts'

test('a place is a directory, or an etcd with its servers and prefix', () => {
  assert.equal(showPlace(placeOf('/data/cluster')), '/data/cluster')
  const etcd = placeOf('etcd://10.0.0.1:2379,10.0.0.2:2379/clusters/one/')
  assert.ok(etcd.kind === 'etcd')
  assert.deepEqual(etcd.options.servers, ['http://10.0.0.1:2379', 'http://10.0.0.2:2379'])
  assert.equal(etcd.prefix, '/clusters/one')
  const urls = placeOf('https://a:2379,https://b:2379')
  assert.ok(urls.kind === 'etcd')
  assert.deepEqual([urls.options.servers, urls.prefix], [['https://a:2379', 'https://b:2379'], '/registry'])
})

test('with files of certificates, etcd is reached by TLS', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-place-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const cafile = join(folder, 'ca.crt')
  writeFileSync(cafile, 'pem')
  const place = placeOf('etcd://etcd:2379', { cafile })
  assert.ok(place.kind === 'etcd')
  assert.deepEqual([place.options.servers, String(place.options.tls?.ca)], [['https://etcd:2379'], 'pem'])
  assert.throws(() => placeOf('/data', { cafile }), ExplainedError)
})

test('other places are errors of one sentence', () => {
  for (const [text, message] of [
    ['etcd://', /names no server: write etcd:/],
    ['ftp://host', /write a directory, or etcd:/],
  ] as const)
    assert.throws(() => placeOf(text), message)
  assert.throws(() => placeOf('etcd://etcd:2379', { keyfile: '/none/key' }), /cannot read \/none\/key: no such file/)
})
