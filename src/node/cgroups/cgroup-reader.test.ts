import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { CgroupReader } from './cgroup-reader.ts'

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-cgroups-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const expected = {
  time: 5,
  cpu: {
    usage: 3_000_000_000,
    user: 2_000_000_000,
    system: 1_000_000_000,
    periods: 10,
    throttledPeriods: 4,
    throttledTime: 7_000_000,
    quota: 50_000,
    period: 100_000,
  },
  memory: {
    usage: 1000,
    workingSet: 700,
    rss: 400,
    cache: 500,
    mappedFile: 50,
    swap: 20,
    pageFaults: 9,
    majorPageFaults: 2,
    limit: 5000,
    swapLimit: 6000,
    reservation: 4000,
    kernel: 90,
    maxUsage: 1500,
    failures: 6,
    oomKills: 1,
  },
  processes: 3,
  maxProcesses: 100,
  io: { readBytes: 30, writtenBytes: 40, reads: 3, writes: 4 },
}

test('usage is read from the hierarchies of cgroup v1', (t) => {
  const folder = folderWith(t, {
    'cpuacct/kubepods/a/cpuacct.usage': '3000000000\n',
    'cpuacct/kubepods/a/cpuacct.stat': 'user 200\nsystem 100\n',
    'cpu/kubepods/a/cpu.stat': 'nr_periods 10\nnr_throttled 4\nthrottled_time 7000000\n',
    'cpu/kubepods/a/cpu.shares': '512\n',
    'cpu/kubepods/a/cpu.cfs_quota_us': '50000\n',
    'cpu/kubepods/a/cpu.cfs_period_us': '100000\n',
    'memory/kubepods/a/memory.usage_in_bytes': '1000\n',
    'memory/kubepods/a/memory.limit_in_bytes': '5000\n',
    'memory/kubepods/a/memory.max_usage_in_bytes': '1500\n',
    'memory/kubepods/a/memory.memsw.limit_in_bytes': '6000\n',
    'memory/kubepods/a/memory.soft_limit_in_bytes': '4000\n',
    'memory/kubepods/a/memory.kmem.usage_in_bytes': '90\n',
    'memory/kubepods/a/memory.failcnt': '6\n',
    'memory/kubepods/a/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
    'memory/kubepods/a/memory.stat':
      'total_inactive_file 300\ntotal_rss 400\ntotal_cache 500\ntotal_mapped_file 50\ntotal_swap 20\n' +
      'total_pgfault 9\ntotal_pgmajfault 2\n',
    'pids/kubepods/a/pids.current': '3\n',
    'pids/kubepods/a/pids.max': '100\n',
    'blkio/kubepods/a/blkio.throttle.io_service_bytes': '8:0 Read 10\n8:0 Write 40\n8:16 Read 20\nTotal 70\n',
    'blkio/kubepods/a/blkio.throttle.io_serviced': '8:0 Read 3\n8:0 Write 4\nTotal 7\n',
    'proc/12/cgroup': '3:cpu,cpuacct:/elsewhere\n2:memory:/kubepods/a\n0::/\n',
  })
  const reader = new CgroupReader(folder, join(folder, 'proc'), () => 5)
  const usage = reader.read('/kubepods/a')!
  assert.deepEqual(usage, { ...expected, cpu: { ...expected.cpu, shares: 512 } })
  assert.equal(reader.pathOf(12), '/kubepods/a')
  assert.equal(reader.pathOf(13), undefined)
  assert.equal(reader.read('/kubepods/b'), undefined)
})

test('usage is read from cgroup v2', (t) => {
  const folder = folderWith(t, {
    'cgroup.controllers': 'cpu io memory pids\n',
    'a/cpu.stat':
      'usage_usec 3000000\nuser_usec 2000000\nsystem_usec 1000000\n' +
      'nr_periods 10\nnr_throttled 4\nthrottled_usec 7000\n',
    'a/cpu.weight': '20\n',
    'a/cpu.max': '50000 100000\n',
    'a/memory.current': '1000\n',
    'a/memory.max': '5000\n',
    'a/memory.peak': '1500\n',
    'a/memory.swap.max': '6000\n',
    'a/memory.min': '4000\n',
    'a/memory.swap.current': '20\n',
    'a/memory.events': 'low 0\nhigh 0\nmax 6\noom 1\noom_kill 1\n',
    'a/memory.stat': 'anon 400\nfile 500\nfile_mapped 50\nkernel 90\ninactive_file 300\npgfault 9\npgmajfault 2\n',
    'a/pids.current': '3\n',
    'a/pids.max': '100\n',
    'a/io.stat': '8:0 rbytes=10 wbytes=40 rios=2 wios=4 dbytes=0 dios=0\n8:16 rbytes=20 wbytes=0 rios=1 wios=0\n',
    'proc/12/cgroup': '0::/a\n',
  })
  const reader = new CgroupReader(folder, join(folder, 'proc'), () => 5)
  assert.deepEqual(reader.read('/a'), { ...expected, cpu: { ...expected.cpu, shares: 500 } })
  assert.equal(reader.pathOf(12), '/a')
})

test('no limit is no number', (t) => {
  const folder = folderWith(t, {
    'memory/a/memory.limit_in_bytes': '9223372036854771712\n',
    'cpu/a/cpu.cfs_quota_us': '-1\n',
  })
  const { memory, cpu } = new CgroupReader(folder, '/proc', () => 5).read('/a')!
  assert.equal(memory.limit, undefined)
  assert.equal(cpu.quota, undefined)
})
