import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { restartCountByLogs } from './restart-count.ts'

test('the next start follows the greatest number of a log, rotated ones too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-restart-count-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assert.equal(await restartCountByLogs(folder, 'main'), 0)
  mkdirSync(join(folder, 'main', '9.log'), { recursive: true })
  assert.equal(await restartCountByLogs(folder, 'main'), 0)
  for (const name of ['0.log', '3.log.20260101-000000.gz', '2.log', 'other.log'])
    writeFileSync(join(folder, 'main', name), '')
  assert.equal(await restartCountByLogs(folder, 'main'), 4)
})
