import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { dataDirectoryPaths } from '../data-directory.ts'
import { recordServiceRange, serviceRangeOf } from './service-range.ts'

function dataOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-range-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return dataDirectoryPaths(folder)
}

test('a new cluster has the range of kubeadm, without nodes that of kube-apiserver', (t) => {
  const data = dataOf(t)
  assert.equal(serviceRangeOf(data, undefined, true), '10.96.0.0/16')
  assert.equal(serviceRangeOf(data, undefined, false), '10.0.0.0/24')
  recordServiceRange(data, '10.96.0.0/16')
  assert.equal(statSync(join(data.path, 'service-range')).mode & 0o777, 0o600)
})

test('a cluster that is older than the record keeps its range', (t) => {
  const data = dataOf(t)
  mkdirSync(data.store)
  assert.equal(serviceRangeOf(data, undefined, true), '10.0.0.0/24')
})

test('a range that was given once stays, and can be changed', (t) => {
  const data = dataOf(t)
  mkdirSync(data.store)
  recordServiceRange(data, '10.9.0.0/24')
  assert.equal(serviceRangeOf(data, undefined, true), '10.9.0.0/24')
  assert.equal(serviceRangeOf(data, '10.9.0.0/16', true), '10.9.0.0/16')
})
