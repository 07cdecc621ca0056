import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Cgroup, nodeCgroups, removeCgroup } from './cgroups.ts'
import { killedFolders } from './folders.ts'
import { leftoversOf } from './index.ts'
import { instancesIn } from './instances.ts'

const a = 'a'.repeat(12)
const b = 'b'.repeat(12)

test('cgroups of nodes are found below each controller, with the processes of those below', (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-doctor-'))
  t.after(() => rmSync(root, { recursive: true }))
  const cgroup = (path: string, processes: string): void => {
    mkdirSync(join(root, path), { recursive: true })
    writeFileSync(join(root, path, 'cgroup.procs'), processes)
  }
  cgroup(`pids/t8s-${a}`, '')
  cgroup(`pids/t8s-${a}/pod`, '7\n8\n')
  cgroup(`t8s-${b}`, '')
  cgroup('pids/t8s-other', '')
  symlinkSync('pids', join(root, 'same'))
  assert.deepEqual(
    nodeCgroups(root).map(({ path, instance, processes }) => ({ path, instance, processes })),
    [
      { path: join(root, `t8s-${b}`), instance: b, processes: [] },
      { path: join(root, `pids/t8s-${a}`), instance: a, processes: [7, 8] },
    ],
  )
  assert.deepEqual(nodeCgroups(join(root, 'missing')), [])
  const plain = join(root, 'plain')
  mkdirSync(join(plain, 'x/y'), { recursive: true })
  removeCgroup(plain)
  assert.equal(existsSync(plain), false)
})

test('cgroups of running and of starting clusters are no leftovers', () => {
  const cgroup = (instance: string, processes: readonly number[], changedAt: number): Cgroup => {
    return { path: `/${instance}`, instance, processes, changedAt }
  }
  const now = 1_000_000
  const old = [cgroup(a, [], 0), cgroup(b, [7], 0)]
  assert.deepEqual(leftoversOf(old, new Set(), now), { empty: [old[0]], populated: [old[1]] })
  assert.deepEqual(leftoversOf(old, new Set([a, b]), now), { empty: [], populated: [] })
  assert.deepEqual(leftoversOf([cgroup(a, [], now - 1000)], new Set(), now), { empty: [], populated: [] })
})

test('a folder with a socket on which nothing listens is that of a killed cluster', (t) => {
  const root = mkdtempSync(join(tmpdir(), 't8s-doctor-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const name of [a, b, 'runtime']) mkdirSync(join(root, name))
  for (const name of [a, 'runtime']) writeFileSync(join(root, name, 'runtime.sock'), '')
  assert.deepEqual(killedFolders(new Set(), root), [join(root, a)])
  assert.deepEqual(killedFolders(new Set([a]), root), [])
  assert.deepEqual(killedFolders(new Set(), join(root, 'missing')), [])
})

test('a runtime that listens belongs to a running instance', () => {
  const line = '0000000000000000: 00000002 00000000 00010000 0001 01 4711 '
  assert.deepEqual(
    instancesIn(`Num\n${line}/run/typernetes/${a}/runtime.sock\n${line}/run/other.sock\n${line}@x/runtime.sock\n`),
    [a],
  )
})
