import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { create } from '@bufbuild/protobuf'
import { ContainerSchema, ContainerState, ContainerStatusSchema } from '#protobuf/cri-runtime_pb.js'
import { LogFolder } from '../testing/log-folder.fixture.ts'
import { LogRotation, removeLog } from './log-rotation.ts'

const start = new Date(2026, 0, 2, 3, 4, 5).getTime()

function setUp(t: TestContext, reopen?: () => Promise<void>) {
  const folder = new LogFolder(t)
  const clock = { now: start }
  const reports: string[] = []
  const rotation = new LogRotation({
    runtime: {
      containers: async () => [create(ContainerSchema, { id: 'c' })],
      containerStatus: async (id) =>
        create(ContainerStatusSchema, { id, state: ContainerState.CONTAINER_RUNNING, logPath: folder.path }),
      reopenLog: reopen ?? (async () => folder.append('')),
    },
    maxBytes: 10,
    maxFiles: 4,
    intervalMs: 10_000,
    log: (text) => reports.push(text),
    now: () => clock.now,
    schedule: () => () => {},
  })
  const names = (): string[] => readdirSync(folder.folder).sort()
  return { folder, clock, reports, rotation, names }
}

test('a log is renamed when it is too large, and all older ones but the newest are compressed', async (t) => {
  const { folder, clock, rotation, names, reports } = setUp(t)
  folder.append('small')
  await rotation.rotateAll()
  assert.deepEqual(names(), ['0.log'])
  for (const round of ['a', 'b', 'c', 'd', 'e']) {
    folder.append(round.repeat(20))
    await rotation.rotateAll()
    clock.now += 10_000
  }
  assert.deepEqual(names(), ['0.log', '0.log.20260102-030425.gz', '0.log.20260102-030435.gz', '0.log.20260102-030445'])
  const text = gunzipSync(readFileSync(join(folder.folder, '0.log.20260102-030435.gz'))).toString()
  assert.equal(text, 'd'.repeat(20))
  assert.deepEqual(reports, [])
})

test('a log gets its name back if the runtime does not open a new one', async (t) => {
  const { folder, rotation, names, reports } = setUp(t, () => Promise.reject(new Error('no such container')))
  folder.append('x'.repeat(20))
  await rotation.rotateAll()
  assert.deepEqual(names(), ['0.log'])
  assert.deepEqual(reports, ['cannot rotate the log of the container c: no such container'])
})

test('a new file of the runtime is kept when its answer is an error', async (t) => {
  const { folder, rotation, names } = setUp(t, () => {
    folder.append('new')
    return Promise.reject(new Error('deadline exceeded'))
  })
  folder.append('x'.repeat(20))
  await rotation.rotateAll()
  assert.deepEqual(names(), ['0.log', '0.log.20260102-030405'])
  assert.equal(readFileSync(folder.path, 'utf8'), 'new')
})

test('an interrupted rotation is completed', async (t) => {
  const { folder, rotation, names } = setUp(t)
  writeFileSync(join(folder.folder, '0.log.20260101-000000'), 'old')
  writeFileSync(join(folder.folder, '0.log.20260101-000000.tmp'), 'incomplete')
  writeFileSync(join(folder.folder, '0.log.20250101-000000'), 'compressed')
  writeFileSync(join(folder.folder, '0.log.20250101-000000.gz'), '')
  await rotation.rotateAll()
  assert.ok(names().includes('0.log'), 'the runtime opens the missing file')
  folder.append('x'.repeat(20))
  await rotation.rotateAll()
  assert.deepEqual(names(), ['0.log', '0.log.20250101-000000.gz', '0.log.20260101-000000.gz', '0.log.20260102-030405'])
  await removeLog(folder.path)
  assert.deepEqual(names(), [])
})
