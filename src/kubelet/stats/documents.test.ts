import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CgroupUsage } from '../../node/cgroups/cgroup-usage.ts'
import { cadvisorMetrics } from './metrics/cadvisor-metrics.ts'
import { resourceMetrics } from './metrics/resource-metrics.ts'
import { summaryOf } from './summary.ts'
import { CpuRates } from './usage/cpu-rates.ts'
import type { FileSystemUsage } from './usage/file-systems.ts'
import type { UsageSnapshot } from './usage/usage-snapshot.ts'

const time = Date.parse('2026-01-02T03:04:05Z')

const usage: CgroupUsage = {
  time,
  cpu: {
    usage: 1_500_000_000,
    user: 1_000_000_000,
    system: 500_000_000,
    periods: 0,
    throttledPeriods: 0,
    throttledTime: 0,
    shares: 2,
    quota: undefined,
    period: 100_000,
  },
  memory: {
    usage: 1000,
    workingSet: 700,
    rss: 400,
    cache: 500,
    mappedFile: 50,
    swap: 0,
    pageFaults: 9,
    majorPageFaults: 2,
    limit: 5000,
    swapLimit: undefined,
    reservation: undefined,
    kernel: 0,
    maxUsage: undefined,
    failures: 0,
    oomKills: 0,
  },
  processes: 3,
  maxProcesses: undefined,
  io: { readBytes: 30, writtenBytes: 40, reads: 3, writes: 4 },
}

const disk: FileSystemUsage = {
  capacityBytes: 1000,
  availableBytes: 600,
  usedBytes: 400,
  inodes: 100,
  inodesFree: 60,
  inodesUsed: 40,
}

const eth0 = {
  name: 'eth0',
  rxBytes: 1,
  rxErrors: 2,
  rxPackets: 3,
  rxDropped: 4,
  txBytes: 5,
  txErrors: 6,
  txPackets: 7,
  txDropped: 8,
}

const snapshot: UsageSnapshot = {
  time,
  hasImageFileSystem: false,
  nodeName: 'node-1',
  node: {
    time,
    cpuUsage: 9_000_000_000,
    memory: {
      capacity: 8000,
      available: 5000,
      usage: 4000,
      workingSet: 3000,
      rss: 2000,
      pageFaults: 1,
      majorPageFaults: 0,
    },
    swap: { capacity: 0, usage: 0 },
    maxPid: 32768,
    processes: 100,
    bootTime: time - 1_000_000,
    processors: 2,
  },
  nodeCpuRate: 123,
  interfaces: [eth0],
  defaultInterface: 'eth0',
  fileSystem: disk,
  imageFileSystem: disk,
  images: { usedBytes: 77, inodesUsed: 7 },
  system: [{ name: 'pods', cgroup: '/kubepods', usage, cpuRate: undefined }],
  pods: [
    {
      identity: { name: 'web', namespace: 'default', uid: 'u' },
      startedAt: time - 5_000,
      cgroup: '/kubepods/podu',
      usage,
      cpuRate: 50,
      containers: [
        {
          name: 'app',
          id: 'abc',
          image: 'nginx',
          startedAt: time - 4_000,
          cgroup: '/kubepods/podu/abc',
          usage,
          cpuRate: 40,
          writableLayer: { usedBytes: 10, inodesUsed: 1 },
          logs: { usedBytes: 20, inodesUsed: 2 },
        },
      ],
      sandbox: { id: 'sss', image: 'pause', cgroup: '/kubepods/podu/sss' },
      interfaces: [eth0],
      volumes: [{ ...disk, name: 'data', isEphemeral: true, usedBytes: 5, inodesUsed: 3 }],
    },
  ],
  hasFailed: false,
}

const at = '2026-01-02T03:04:05Z'

test("the summary has upstream's fields", () => {
  const { node, pods } = summaryOf(snapshot, false) as { node: Record<string, object>; pods: Record<string, object>[] }
  const [pod] = pods
  assert.deepEqual(Object.keys(node), [
    'nodeName',
    'systemContainers',
    'startTime',
    'cpu',
    'memory',
    'network',
    'fs',
    'runtime',
    'rlimit',
    'swap',
  ])
  assert.deepEqual(pod!.podRef, { name: 'web', namespace: 'default', uid: 'u' })
  assert.deepEqual(pod!.cpu, { time: at, usageNanoCores: 50, usageCoreNanoSeconds: 1_500_000_000 })
  assert.deepEqual(pod!.process_stats, { process_count: 3 })
  const storage = pod!['ephemeral-storage'] as { usedBytes: number; inodesUsed: number; capacityBytes: number }
  assert.deepEqual([storage.usedBytes, storage.inodesUsed, storage.capacityBytes], [35, 6, 1000])
  const [container] = pod!.containers as unknown as Record<string, object>[]
  assert.deepEqual(container!.memory, {
    time: at,
    availableBytes: 4300,
    usageBytes: 1000,
    workingSetBytes: 700,
    rssBytes: 400,
    pageFaults: 9,
    majorPageFaults: 2,
  })
  assert.equal((container!.rootfs as { usedBytes: number }).usedBytes, 10)
})

test('a summary of CPU and memory has no disks and networks', () => {
  const { node, pods } = summaryOf(snapshot, true) as { node: object; pods: object[] }
  assert.deepEqual(Object.keys(node), ['nodeName', 'systemContainers', 'startTime', 'cpu', 'memory', 'swap'])
  assert.deepEqual(Object.keys(pods[0]!), ['podRef', 'startTime', 'containers', 'cpu', 'memory', 'swap'])
})

test('metrics of resources have the labels of containers and pods', () => {
  const text = resourceMetrics(snapshot)
  for (const line of [
    `container_cpu_usage_seconds_total{container="app",namespace="default",pod="web"} 1.5 ${time}`,
    `container_memory_working_set_bytes{container="app",namespace="default",pod="web"} 700 ${time}`,
    `container_start_time_seconds{container="app",namespace="default",pod="web"} ${(time - 4000) / 1000}`,
    `pod_memory_working_set_bytes{namespace="default",pod="web"} 700 ${time}`,
    `node_cpu_usage_seconds_total 9 ${time}`,
    'resource_scrape_error 0',
  ])
    assert.ok(text.includes(`\n${line}\n`), line)
})

test("metrics of cgroups have cAdvisor's labels", () => {
  const text = cadvisorMetrics(snapshot, usage)
  const container = 'id="/kubepods/podu/abc",image="nginx",name="abc",namespace="default",pod="web"'
  const sandbox = 'id="/kubepods/podu/sss",image="pause",interface="eth0",name="sss",namespace="default",pod="web"'
  for (const line of [
    `container_cpu_usage_seconds_total{container="app",cpu="total",${container}} 1.5 ${time}`,
    `container_memory_working_set_bytes{container="app",${container}} 700 ${time}`,
    `container_fs_usage_bytes{container="app",device="",${container}} 10 ${time}`,
    `container_memory_rss{container="",id="/kubepods/podu",image="",name="",namespace="default",pod="web"} 400 ${time}`,
    `container_memory_rss{container="",id="/",image="",name="",namespace="",pod=""} 400 ${time}`,
    `container_network_transmit_bytes_total{container="",${sandbox}} 5 ${time}`,
    'machine_cpu_cores 2',
  ])
    assert.ok(text.includes(`\n${line}\n`), line)
  assert.equal([...text.matchAll(/^# TYPE container_memory_failures_total /gm)].length, 1)
  assert.ok(!text.includes('container_cpu_cfs_periods_total'), 'there is no limit')
})

test('a CPU rate needs two samples', () => {
  const rates = new CpuRates()
  assert.equal(rates.add('a', 0, 1_000), undefined)
  assert.equal(rates.add('a', 500, 2_000), undefined)
  assert.equal(rates.add('a', 2_000, 1_000_001_000), 500_000_000)
  assert.equal(rates.add('a', 2_500, 9_999_999_999), 500_000_000)
  assert.equal(rates.add('a', 7_000, 1_000_001_000), 0)
  // A restart: the total begins again.
  assert.equal(rates.add('a', 12_000, 5), undefined)
})
