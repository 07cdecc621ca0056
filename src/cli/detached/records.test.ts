import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { bootId, startTimeOf } from '../../lib/process/start-time.ts'
import { ClusterRecords, isRunning, stateDirectory } from './records.ts'

const record = {
  name: 'dev',
  pid: process.pid,
  startTime: startTimeOf(process.pid)!,
  bootId: bootId(),
  url: 'https://127.0.0.1:1',
  kubeconfig: '/data/kubeconfig',
  dataDirectory: '/data',
}

test('records are private files, and damaged ones do not count', (t) => {
  const state = mkdtempSync(join(tmpdir(), 't8s-state-'))
  t.after(() => rmSync(state, { recursive: true }))
  const records = new ClusterRecords({ XDG_STATE_HOME: state })
  assert.deepEqual(records.list(), [])
  records.write(record)
  records.write({ ...record, name: 'a' })
  const folder = join(state, 'typernetes/clusters')
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, 'dev.json')).mode & 0o777, 0o600)
  writeFileSync(join(folder, 'cut.json'), '{"name": "cu')
  writeFileSync(join(folder, 'old.json'), '{"name": "old", "pid": "1"}')
  assert.deepEqual(records.list(), [{ ...record, name: 'a' }, record])
  records.delete('a')
  assert.deepEqual(records.list(), [record])
  assert.equal(records.read('a'), undefined)
})

test('a record does not mean a later process with the same pid, or one of another boot', () => {
  assert.equal(isRunning(record), true)
  assert.equal(isRunning({ ...record, startTime: '1' }), false)
  assert.equal(isRunning({ ...record, bootId: 'other' }), false)
})

test('the state directory follows the XDG specification', () => {
  assert.equal(stateDirectory({ XDG_STATE_HOME: '/state', HOME: '/home/me' }), '/state/typernetes')
  for (const XDG_STATE_HOME of [undefined, '', 'relative'])
    assert.equal(stateDirectory({ XDG_STATE_HOME, HOME: '/home/me' }), '/home/me/.local/state/typernetes')
})
