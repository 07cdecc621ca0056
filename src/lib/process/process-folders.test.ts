import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { ProcessFolders } from './process-folders.ts'

test('folders of ended processes are removed, those of running ones and others remain', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 't8s-test-'))
  t.after(() => rmSync(parent, { recursive: true }))
  const folders = new ProcessFolders('t8s-volumes-', parent)
  const name = basename(folders.newPath())
  const reused = name.replace(/^(t8s-volumes-\d+)-\w+/, '$1-1')
  const ended = name.replace(/^t8s-volumes-\d+/, `t8s-volumes-${2 ** 22 + 1}`)
  const others = ['t8s-volumes-x', 'other', ended.replace('volumes', 'replay')]
  for (const folder of [name, reused, ended, ...others]) mkdirSync(join(parent, folder, 'pvc'), { recursive: true })
  await folders.removeAbandoned()
  assert.deepEqual(readdirSync(parent).sort(), [name, ...others].sort())
})

test('a folder is private, and removed with its files when it is disposed of', (t) => {
  const parent = mkdtempSync(join(tmpdir(), 't8s-test-'))
  t.after(() => rmSync(parent, { recursive: true }))
  {
    using folder = new ProcessFolders('t8s-run-', parent).create()
    assert.match(basename(folder.path), new RegExp(`^t8s-run-${process.pid}-`))
    assert.equal(statSync(folder.path).mode & 0o777, 0o700)
    writeFileSync(join(folder.path, 'kubeconfig'), '')
    assert.ok(existsSync(join(folder.path, 'kubeconfig')))
  }
  assert.deepEqual(readdirSync(parent), [])
})
