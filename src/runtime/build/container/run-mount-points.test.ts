import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { RunMountPoints } from './run-mount-points.ts'

function folderOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-mount-points-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return (name: string): string => join(folder, name)
}

test('empty files and folders that were missing are removed, others remain', (t) => {
  const path = folderOf(t)
  mkdirSync(path('root/etc'), { recursive: true })
  writeFileSync(path('root/etc/hostname'), '')
  const points = new RunMountPoints(path('root'))
  for (const name of ['root/dev', 'root/proc', 'root/sys/own']) mkdirSync(path(name), { recursive: true })
  writeFileSync(path('root/etc/hosts'), '')
  writeFileSync(path('root/etc/resolv.conf'), 'own')
  points.removeNew()
  const left = ['etc/hostname', 'etc/hosts', 'etc/resolv.conf', 'dev', 'proc', 'sys/own']
  assert.deepEqual(
    left.filter((name) => existsSync(path(`root/${name}`))),
    ['etc/hostname', 'etc/resolv.conf', 'sys/own'],
  )
})

test('a link of the image does not lead to files of the machine', (t) => {
  const path = folderOf(t)
  for (const name of ['root', 'machine']) mkdirSync(path(name))
  symlinkSync(path('machine'), path('root/etc'))
  const points = new RunMountPoints(path('root'))
  writeFileSync(path('machine/hosts'), '')
  points.removeNew()
  assert.ok(existsSync(path('machine/hosts')))
})
