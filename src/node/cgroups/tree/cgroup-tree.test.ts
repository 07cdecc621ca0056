import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CgroupTreeV1 } from './cgroup-tree-v1.ts'
import { CgroupTreeV2 } from './cgroup-tree-v2.ts'
import { findCgroups } from './find-cgroups.ts'

/** A folder that stands for `/sys/fs/cgroup`: files appear when they are written. */
function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-cgroup-tree-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const values = {
  cpuShares: 512n,
  cpuQuota: 50_000n,
  cpuPeriod: 100_000n,
  memory: 64n << 20n,
  pids: 10n,
  hugePages: new Map([['2MB', 4n << 20n]]),
}

test('a cgroup v1 is made in all hierarchies, with the processors of its parent', (t) => {
  const folder = folderWith(t, {
    'cpuset/cpuset.cpus': '0-1\n',
    'cpuset/cpuset.mems': '0\n',
    // The kernel makes these files with their folder.
    'cpuset/kubepods/cpuset.cpus': '',
    'cpuset/kubepods/cpuset.mems': '',
    'cpuset/kubepods/burstable/cpuset.cpus': '',
    'cpuset/kubepods/burstable/cpuset.mems': '',
    'memory/kubepods/burstable/memory.usage_in_bytes': '123\n',
  })
  const names = ['cpu', 'cpuset', 'memory', 'pids', 'hugetlb', 'freezer'] as const
  for (const name of names) mkdirSync(join(folder, name), { recursive: true })
  const tree = new CgroupTreeV1(new Map(names.map((name) => [name, join(folder, name)])), undefined)
  assert.deepEqual(tree.missing('/kubepods/burstable'), [
    join(folder, 'cpu/kubepods/burstable'),
    join(folder, 'pids/kubepods/burstable'),
    join(folder, 'hugetlb/kubepods/burstable'),
  ])
  tree.create('/kubepods/burstable')
  assert.deepEqual(tree.missing('/kubepods/burstable'), [])
  assert.deepEqual(readdirSync(join(folder, 'freezer/kubepods')), ['burstable'])
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
  assert.equal(read('cpuset/kubepods/burstable/cpuset.cpus'), '0-1')
  tree.set('/kubepods/burstable', values)
  assert.equal(read('pids/kubepods/burstable/pids.max'), '10')
  assert.equal(read('hugetlb/kubepods/burstable/hugetlb.2MB.limit_in_bytes'), '4194304')
  const { pids: _, hugePages: __, ...readable } = values
  assert.deepEqual(tree.read('/kubepods/burstable'), readable)
  assert.equal(tree.memoryUsage('/kubepods/burstable'), 123n)
  assert.deepEqual(tree.children('/kubepods'), ['burstable'])
})

test('a cgroup v1 without limits reads as -1', (t) => {
  const folder = folderWith(t, {
    'cpu/a/cpu.shares': '1024\n',
    'cpu/a/cpu.cfs_quota_us': '-1\n',
    'cpu/a/cpu.cfs_period_us': '100000\n',
    'memory/a/memory.limit_in_bytes': '9223372036854771712\n',
  })
  const tree = new CgroupTreeV1(
    new Map([
      ['cpu', join(folder, 'cpu')],
      ['memory', join(folder, 'memory')],
    ]),
    undefined,
  )
  assert.deepEqual(tree.read('/a'), { cpuShares: 1024n, cpuQuota: -1n, cpuPeriod: 100_000n, memory: -1n })
})

test('a cgroup v2 gets the controllers of its parents, and limits in its own units', (t) => {
  const folder = folderWith(t, {
    'cgroup.controllers': 'cpuset cpu io memory hugetlb pids rdma misc\n',
    'kubepods/burstable/cgroup.controllers': 'cpuset cpu io memory hugetlb pids\n',
    'kubepods/burstable/cgroup.procs': '12\n',
    'kubepods/burstable/pod1/c/cgroup.procs': '34\n56\n',
  })
  const tree = new CgroupTreeV2(folder)
  assert.deepEqual(tree.missing('/kubepods'), [join(folder, 'kubepods')])
  assert.deepEqual(tree.missing('/kubepods/burstable'), [])
  tree.create('/kubepods/burstable')
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
  for (const path of ['', 'kubepods'])
    assert.equal(read(join(path, 'cgroup.subtree_control')), '+cpu +cpuset +memory +hugetlb +pids +io')
  tree.set('/kubepods/burstable', values)
  assert.equal(read('kubepods/burstable/cpu.weight'), '20')
  assert.equal(read('kubepods/burstable/cpu.max'), '50000 100000')
  assert.equal(read('kubepods/burstable/memory.max'), '67108864')
  assert.equal(read('kubepods/burstable/pids.max'), '10')
  assert.equal(read('kubepods/burstable/hugetlb.2MB.max'), '4194304')
  // A weight is coarser than shares.
  assert.equal(tree.read('/kubepods/burstable').cpuShares, 500n)
  tree.set('/kubepods/burstable', { cpuQuota: -1n, cpuPeriod: 100_000n, memory: -1n })
  const { cpuQuota, memory } = tree.read('/kubepods/burstable')
  assert.deepEqual([cpuQuota, memory], [-1n, -1n])
  assert.deepEqual(tree.processes('/kubepods'), [12, 34, 56])
})

const v2Mount = '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw'

test('cgroups are found by their mounts: v1 with v2 beside it is v1', () => {
  const v1Mounts = [
    '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
    '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
    '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
    '40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd',
  ]
  assert.equal(findCgroups([...v1Mounts, v2Mount].join('\n')).version, 1)
  assert.throws(() => findCgroups(v1Mounts[0]), /failed to find cgroup mounts/)
  const hidden = [...v1Mounts, '90 80 0:90 / /sys rw - sysfs sysfs rw', v2Mount]
  assert.equal(findCgroups(hidden.join('\n')).version, 2)
})

test('the cgroup v2 of this machine is made and removed', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, async (t) => {
  const mount = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((line) => line.includes(' - cgroup2 '))
    ?.split(' ')[4]
  if (mount === undefined) return t.skip('cgroup v2 is not mounted')
  const tree = new CgroupTreeV2(mount)
  const path = `/t8s-cgroup-tree-${process.pid}`
  try {
    tree.create(`${path}/a/b`)
  } catch (error) {
    // Inside a container, the processes of its own cgroup are in the way.
    return t.skip(`cgroups v2 cannot be made: ${(error as Error).message}`)
  }
  assert.deepEqual(tree.missing(`${path}/a/b`), [])
  assert.deepEqual(tree.children(path), ['a'])
  tree.set(`${path}/a`, { hugePages: new Map([['2MB', 4n << 20n]]) })
  await tree.remove(path)
  assert.deepEqual(tree.children(path), [])
})
