import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ResourceRecord } from './resource-record.ts'

function fileOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-resource-record-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'allocated_pods_state')
}

const fail = (line: string): void => assert.fail(line)

test('a record survives a restart, in the format and with the checksum of upstream', (t) => {
  const file = fileOf(t)
  const record = new ResourceRecord(file, fail)
  record.set('u1', { containers: { main: { requests: { cpu: '100m' } } } })
  record.setContainer('u1', 'other', { limits: { memory: '64Mi' } })
  record.set('u0', { containers: {}, pod: { limits: { cpu: '1' } } })
  const data =
    '{"entries":{"u0":{"ContainerResources":{},"PodLevelResources":{"limits":{"cpu":"1"}}},' +
    '"u1":{"ContainerResources":{"main":{"requests":{"cpu":"100m"}},"other":{"limits":{"memory":"64Mi"}}},' +
    '"PodLevelResources":null}}}'
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).data, data)
  const next = new ResourceRecord(file, fail)
  assert.deepEqual(next.get('u0'), { containers: {}, pod: { limits: { cpu: '1' } } })
  assert.deepEqual(next.get('u1')?.containers.other, { limits: { memory: '64Mi' } })
  next.retain((uid) => uid === 'u1')
  assert.equal(next.get('u0'), undefined)
})

test('a file of upstream is read', (t) => {
  const file = fileOf(t)
  // The checksum is that of upstream for this text.
  const data = '{"allocationEntries":{"pod1":{"container1":{"requests":{"cpu":"1Ki","memory":"1Ki"}}}}}'
  writeFileSync(file, JSON.stringify({ data, checksum: 1_555_601_526 }))
  assert.equal(new ResourceRecord(file, fail).get('pod1'), undefined)
})

test('a corrupt file is renamed, and the record begins empty', (t) => {
  const file = fileOf(t)
  for (const text of ['{', '{"data":"{}","checksum":1}', '']) {
    writeFileSync(file, text)
    const lines: string[] = []
    const record = new ResourceRecord(file, (line) => void lines.push(line))
    assert.equal(lines.length, 1, text)
    assert.match(lines[0] ?? '', /it is renamed to .*allocated_pods_state\.corrupt/)
    assert.equal(existsSync(file), false)
    record.set('u', { containers: {} })
    assert.deepEqual(new ResourceRecord(file, fail).get('u'), { containers: {} })
  }
})
