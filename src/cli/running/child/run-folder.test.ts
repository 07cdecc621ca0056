import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runFolder } from './run-folder.ts'

test('a run deletes its folder, and those of killed runs whose pids other processes have now', (t) => {
  const parent = mkdtempSync(join(tmpdir(), 't8s-folders-'))
  t.after(() => rmSync(parent, { recursive: true }))
  for (const name of ['t8s-run-7-100', 't8s-run-8-100', 't8s-run-9-100', 't8s-run-x', 'other'])
    mkdirSync(join(parent, name))
  const starts = new Map([
    [7, '100'],
    [8, '200'],
    [process.pid, '300'],
  ])
  {
    using folder = runFolder(parent, (pid) => starts.get(pid))
    assert.equal(folder.path, join(parent, `t8s-run-${process.pid}-300`))
    assert.equal(statSync(folder.path).mode & 0o777, 0o700)
    writeFileSync(join(folder.path, 'kubeconfig'), '')
    assert.ok(existsSync(join(folder.path, 'kubeconfig')))
  }
  assert.deepEqual(readdirSync(parent).sort(), ['other', 't8s-run-7-100', 't8s-run-x'])
})
