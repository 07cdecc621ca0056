import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CgroupTreeV2 } from '../../node/cgroups/tree/cgroup-tree-v2.ts'
import { SystemdTree } from './systemd-tree.ts'

test('slices are started, limited, stopped and forgotten by systemd', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-systemd-tree-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'cgroup.controllers'), 'cpu memory pids\n')
  mkdirSync(join(folder, 'kubepods.slice'))
  writeFileSync(join(folder, 'kubepods.slice/cgroup.controllers'), 'cpu memory pids\n')
  const calls: string[] = []
  const tree = new SystemdTree(new CgroupTreeV2(folder), (...args) => void calls.push(args.join(' ')))
  const slice = 'kubepods-pod1234_abcd.slice'
  const path = `/kubepods.slice/${slice}`
  tree.create(path)
  tree.set(path, { cpuShares: 512n, cpuQuota: 1500n, cpuPeriod: 100_000n, memory: 64n << 20n, pids: 10n })
  assert.equal(readFileSync(join(folder, path, 'memory.max'), 'utf8'), '67108864')
  tree.set(path, { cpuQuota: -1n, cpuPeriod: 100_000n, memory: -1n })
  for (const file of ['cgroup.procs', 'cpu.weight', 'cpu.max', 'memory.max', 'pids.max'])
    rmSync(join(folder, path, file), { force: true })
  await tree.remove(path)
  assert.deepEqual(calls, [
    `start ${slice}`,
    `set-property --runtime ${slice} CPUWeight=20 CPUQuota=1.50% MemoryMax=67108864 TasksMax=10`,
    `set-property --runtime ${slice} CPUQuota= MemoryMax=infinity`,
    `stop ${slice}`,
    `revert ${slice}`,
  ])
  assert.deepEqual(tree.children('/kubepods.slice'), [])
})

const isSystemd = existsSync('/run/systemd/system')

test('without systemd, the error names the setting', { skip: isSystemd && 'systemd runs here' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-systemd-tree-'))
  try {
    writeFileSync(join(folder, 'cgroup.controllers'), '\n')
    const tree = new SystemdTree(new CgroupTreeV2(folder))
    assert.throws(
      () => tree.create('/t8s-test.slice'),
      /^Error: systemctl start t8s-test\.slice has failed: .*; without systemd, set cgroupDriver: cgroupfs here/s,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
