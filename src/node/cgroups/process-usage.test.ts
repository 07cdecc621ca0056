import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CgroupReader } from './cgroup-reader.ts'

/** A folder as `/proc` with these processes. */
function procOf(t: TestContext, processes: Readonly<Record<string, string>>): string {
  const proc = mkdtempSync(join(tmpdir(), 't8s-proc-'))
  t.after(() => rmSync(proc, { recursive: true }))
  for (const [pid, namespace] of Object.entries(processes)) {
    mkdirSync(join(proc, pid, 'ns'), { recursive: true })
    symlinkSync(`pid:[${namespace}]`, join(proc, pid, 'ns/pid'))
    writeFileSync(join(proc, pid, 'stat'), `${pid} (a b) c) S 1 1 1 0 -1 0 100 7 20 3 30 10 4 1 20 0 1 0`)
    writeFileSync(
      join(proc, pid, 'status'),
      'Name:\ta\nVmSwap:\t       4 kB\nRssAnon:\t     100 kB\nRssFile:\t      50 kB\nRssShmem:\t      10 kB\n',
    )
  }
  return proc
}

test('without cgroups, a container uses what the processes of its PID namespace use', (t) => {
  const proc = procOf(t, { self: '1', 10: '1', 20: '2', 21: '2', 30: '3' })
  const reader = new CgroupReader('/nowhere', proc, () => 5)
  const path = reader.pathOf(20)
  assert.equal(path, '/processes/20')
  const usage = reader.read(path)!
  assert.deepEqual([usage.time, usage.processes], [5, 2])
  assert.deepEqual([usage.cpu.user, usage.cpu.system], [680_000_000, 220_000_000])
  assert.deepEqual(
    [usage.memory.usage, usage.memory.workingSet, usage.memory.swap, usage.memory.pageFaults],
    [320 * 1024, 220 * 1024, 8 * 1024, 240],
  )
  assert.equal(reader.read('/processes/10')?.processes, 1)
  assert.equal(reader.read('/processes/99'), undefined)
  assert.equal(reader.read('/kubepods'), undefined)
})
