import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Spool } from './spool.ts'

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-spool-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const start = { generation: 0, logged: 0 }

test('a later spool reads what is not in the log', (t) => {
  const folder = folderOf(t)
  const spool = new Spool(folder, 'stdout', start)
  spool.write(Buffer.from('one\ntwo'))
  assert.equal(`${spool.next()}`, 'one\ntwo')
  spool.markLogged(3)
  spool.write(Buffer.from(' three'))
  spool.close()
  const later = new Spool(folder, 'stdout', spool.position)
  assert.equal(`${later.next()}`, 'two three')
  assert.equal(later.next().length, 0)
  later.close()
})

test('a spool begins again when most is in the log, and keeps the rest', (t) => {
  const folder = folderOf(t)
  const spool = new Spool(folder, 'stdout', start)
  spool.write(Buffer.from(`${'x'.repeat(70_000)}\nrest`))
  while (spool.next().length > 0);
  spool.markLogged(4)
  let files: readonly string[] = []
  spool.rotate(() => {
    files = readdirSync(folder)
  })
  assert.deepEqual(files, ['stdout.0', 'stdout.1'], 'both are there until the position is saved')
  assert.deepEqual(readdirSync(folder), ['stdout.1'])
  assert.deepEqual(spool.position, { generation: 1, logged: 0 })
  spool.write(Buffer.from(' and more'))
  assert.equal(`${spool.next()}`, ' and more')
  spool.close()
  const later = new Spool(folder, 'stdout', spool.position)
  assert.equal(`${later.next()}`, 'rest and more')
  later.close()
})
