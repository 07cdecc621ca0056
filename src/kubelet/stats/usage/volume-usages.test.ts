import assert from 'node:assert/strict'
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { folderUsage } from './file-systems.ts'
import { FolderUsages } from './folder-usages.ts'
import { volumeUsages } from './volume-usages.ts'

test('a folder is measured as by du, and a volume is one', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-volumes-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const volume = join(root, 'pods/u/volumes/kubernetes.io~empty-dir/data')
  mkdirSync(join(volume, 'sub'), { recursive: true })
  const empty = await folderUsage(volume)
  writeFileSync(join(volume, 'file'), Buffer.alloc(100_000))
  linkSync(join(volume, 'file'), join(volume, 'sub/same'))
  symlinkSync('/usr', join(volume, 'link'))
  const { usedBytes, inodesUsed } = await folderUsage(volume)
  assert.ok(usedBytes - empty.usedBytes >= 100_000 && usedBytes - empty.usedBytes < 200_000)
  assert.equal(inodesUsed - empty.inodesUsed, 2)
  const folders = new FolderUsages(Date.now)
  assert.deepEqual(volumeUsages(root, 'u', folders), [])
  while (volumeUsages(root, 'u', folders).length === 0) await wait(5)
  const [usage] = volumeUsages(root, 'u', folders)
  assert.deepEqual([usage!.name, usage!.usedBytes, usage!.isEphemeral], ['data', usedBytes, true])
  assert.deepEqual(volumeUsages(root, 'other', folders), [])
})
