import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDirectory } from './make-directory.ts'

test('creates missing parents and keeps existing directories', (t) => {
  const base = mkdtempSync(join(tmpdir(), 't8s-mkdir-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  makeDirectory(join(base, 'a/b'), 0o700)
  makeDirectory(join(base, 'a/b'), 0o755)
  assert.equal(statSync(join(base, 'a/b')).mode & 0o777, 0o700)
  writeFileSync(join(base, 'file'), '')
  assert.throws(() => makeDirectory(join(base, 'file'), 0o700), { code: 'EEXIST' })
  assert.throws(() => makeDirectory(join(base, 'file/below'), 0o700), { code: 'ENOTDIR' })
})

test('a file system without mkdir fails immediately', {
  skip: existsSync('/proc') ? false : 'there is no /proc on this machine',
}, () => {
  assert.throws(() => makeDirectory('/proc/no-such/directory', 0o700), { code: 'ENOENT' })
})
