import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
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
