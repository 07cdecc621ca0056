/**
 * Clusters in memory of programs, as tests start them: the first of a process, with the time to load the package, and
 * later ones, until they are ready, and until their controllers have synced. Each process is a new one, and load on the
 * machine distorts times, so CPU time is printed too.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { print } from '../report.ts'

interface Start {
  readonly firstMs: number
  readonly firstCpuMs: number
  readonly firstSyncedMs: number
  readonly laterMs: number
  readonly laterSyncedMs: number
  readonly laterCpuMs: number
}

const targets = { firstMs: 150, laterMs: 15 } as const
const laterStarts = 10

/** The program: it loads the built package. */
const program = `
const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
const measured = async (action) => {
  const [began, cpu] = [performance.now(), cpuMs()]
  const result = await action()
  const [ms, used] = [performance.now() - began, cpuMs() - cpu]
  await result.synced
  return { result, ms, cpuMs: used, syncedMs: performance.now() - began }
}
const options = JSON.parse(process.argv[1])
let startCluster
const first = await measured(async () => {
  ({ startCluster } = await import(${JSON.stringify(join(import.meta.dirname, '../../.build/exports/index.js'))}))
  return startCluster(options)
})
const later = []
for (let i = 0; i < ${laterStarts}; i++) {
  const one = await measured(() => startCluster(options))
  later.push(one)
  await one.result.stop()
}
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]
console.log(JSON.stringify({
  firstMs: first.ms, firstCpuMs: first.cpuMs, firstSyncedMs: first.syncedMs,
  laterMs: median(later.map(({ ms }) => ms)), laterCpuMs: median(later.map(({ cpuMs }) => cpuMs)),
  laterSyncedMs: median(later.map(({ syncedMs }) => syncedMs)),
}))
await first.result.stop()
`

/** Runs `n` programs of each kind in turns, and prints a table. */
export function benchProgramStarts(n: number): void {
  const kinds = [
    { name: 'on its own thread', options: {}, starts: [] as Start[] },
    { name: 'on the thread of the program', options: { thread: false }, starts: [] as Start[] },
  ]
  // The first starts fill the compile cache.
  for (const { options } of kinds) start(options)
  for (let i = 0; i < n; i++) for (const { options, starts } of kinds) starts.push(start(options))
  const cells = (starts: readonly Start[], value: (start: Start) => number): string[] => {
    const sorted = starts.map(value).sort((a, b) => a - b)
    return [sorted[Math.floor(n / 2)], sorted[0]].map((of) => (of ?? 0).toFixed(0))
  }
  print([
    [
      `startCluster(), ${n} programs`,
      'first ms',
      'min',
      'target',
      'CPU ms',
      'min',
      'synced ms',
      'min',
      'later ms',
      'min',
      'target',
      'CPU',
      'min',
      'synced',
      'min',
    ],
    ...kinds.map(({ name, starts }) => [
      name,
      ...cells(starts, ({ firstMs }) => firstMs),
      `≤ ${targets.firstMs}`,
      ...cells(starts, ({ firstCpuMs }) => firstCpuMs),
      ...cells(starts, ({ firstSyncedMs }) => firstSyncedMs),
      ...cells(starts, ({ laterMs }) => laterMs),
      `≤ ${targets.laterMs}`,
      ...cells(starts, ({ laterCpuMs }) => laterCpuMs),
      ...cells(starts, ({ laterSyncedMs }) => laterSyncedMs),
    ]),
  ])
}

function start(options: object): Start {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program, JSON.stringify(options)],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the program failed: ${stderr}`)
  return JSON.parse(stdout) as Start
}
