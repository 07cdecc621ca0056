import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeFileAtomically } from './atomic-file.ts'

test('devices and pipes are not replaced', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'atomic-file-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  assert.throws(() => writeFileAtomically(pipe, 'text', 0o600), /it is a device or a pipe/)
  assert.ok(statSync(pipe).isFIFO())
  assert.deepEqual(readdirSync(folder), ['pipe'])
})
