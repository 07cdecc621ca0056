/**
 * `npm run bench -- --etcd`: an API server on an etcd, its CPU time per request and that of etcd. With `--reference`, a
 * kube-apiserver on another etcd of the machine does each phase, too. Then two servers on one etcd read. Asserts
 * nothing.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kind } from '../load/objects.ts'
import { type Generator, load, type MeasuredPhase, measure, requestsOf } from '../load/run-load.ts'
import { print } from '../report.ts'
import { auditPolicy } from '../server/rights.ts'
import { launcher, residentMegabytes, type Server } from '../server/server.ts'
import { type Etcd, etcdCpuMs, type Program, startEtcd, startOn, stopProcess } from './etcd-server.ts'

export interface EtcdBenchmark {
  readonly directory: string
  readonly tokenFile: string
  readonly kinds: readonly Kind[]
  readonly phases: readonly string[]
  readonly generator: Generator
  /** A kube-apiserver to compare with. */
  readonly reference?: string | undefined
}

/** An API server with the etcd that it uses alone. */
interface Pair {
  readonly etcd: Etcd
  readonly server: Server
}

type Result = MeasuredPhase & { readonly etcdMs: number }

const ours: Program = [launcher, 'apiserver']

export async function benchEtcd(benchmark: EtcdBenchmark): Promise<void> {
  const programs = [ours, ...(benchmark.reference ? [[benchmark.reference] satisfies Program] : [])]
  const pairs: Pair[] = []
  try {
    for (const [i, program] of programs.entries())
      pairs.push(await startPair(benchmark, program, join(benchmark.directory, `etcd-${i}`)))
    for (const [i, { server }] of pairs.entries())
      console.log(`${programs[i]!.join(' ')}: ready in ${Math.round(server.readyMs)} ms`)
    await comparePhases(benchmark, pairs)
    for (const [i, { server }] of pairs.entries())
      console.log(`${programs[i]!.join(' ')}: ${Math.round(residentMegabytes(server))} MB after the load`)
    await compareReaders(benchmark, pairs[0]!)
  } finally {
    for (const { server, etcd } of pairs) {
      await stopProcess(server)
      await stopProcess(etcd)
    }
  }
}

async function startPair(benchmark: EtcdBenchmark, program: Program, directory: string): Promise<Pair> {
  mkdirSync(directory)
  const etcd = await startEtcd(directory)
  try {
    return { etcd, server: await startOn(etcd, program, directory, flagsOf(benchmark, directory)) }
  } catch (error) {
    await stopProcess(etcd)
    throw error
  }
}

/** The features of a cluster, and an audit log. Both programs understand these flags. */
function flagsOf({ tokenFile }: EtcdBenchmark, directory: string): string[] {
  const path = (name: string): string => join(directory, name)
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(path('service-account.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 })
  writeFileSync(path('audit-policy.json'), auditPolicy)
  return [
    `--token-auth-file=${tokenFile}`,
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${path('service-account.key')}`,
    `--service-account-signing-key-file=${path('service-account.key')}`,
    `--audit-policy-file=${path('audit-policy.json')}`,
    `--audit-log-path=${path('audit.log')}`,
    '--audit-log-maxbackup=1',
    '--service-cluster-ip-range=10.96.0.0/16',
  ]
}

/** Runs each phase on one server after the other. */
async function comparePhases({ kinds, phases, generator }: EtcdBenchmark, pairs: readonly Pair[]): Promise<void> {
  const rows: (readonly Result[])[] = []
  for (const kind of kinds)
    for (const phase of phases) {
      const results: Result[] = []
      for (const pair of pairs) results.push(await measurePhase(pair, kind, phase, generator))
      rows.push(results)
    }
  const ms = (value: number | undefined): string => value?.toFixed(3) ?? ''
  const heads = ['rate', 'p99 ms', 'CPU ms', "etcd's CPU ms"]
  print([
    ['per request', ...heads, ...(pairs.length > 1 ? [...heads, 'CPU', 'rate'] : [])],
    ...rows.map((results) => [
      `${results[0]!.kind} ${results[0]!.phase}`,
      ...results.flatMap(({ rate, p99, cpuMs, etcdMs }) => [rate.toFixed(0), p99.toFixed(1), ms(cpuMs), ms(etcdMs)]),
      ...ratios(results),
    ]),
  ])
}

/** How many times less CPU time ours takes, and how many times more it does in a second. */
function ratios([first, second]: readonly Result[]): string[] {
  if (!first || !second) return []
  return [second.cpuMs! / first.cpuMs!, first.rate / second.rate].map((ratio) => `${ratio.toFixed(2)}×`)
}

async function measurePhase(pair: Pair, kind: Kind, phase: string, generator: Generator): Promise<Result> {
  const before = etcdCpuMs(pair.etcd)
  const results = await measure(pair.server, kind, [phase], generator)
  const spent = etcdCpuMs(pair.etcd) - before
  for (const { failures, firstFailure } of results)
    if (failures > 0) console.log(`${kind} ${phase}: ${failures} failed: ${firstFailure ?? ''}`)
  const result = results.find(({ cpuMs }) => cpuMs !== undefined) ?? results[0]!
  return { ...result, phase, etcdMs: spent / requestsOf(phase, generator.n) }
}

/** GETs and lists of one server, and of two at the same time. */
async function compareReaders(benchmark: EtcdBenchmark, { etcd, server }: Pair): Promise<void> {
  const { directory, generator } = benchmark
  const second = await startOn(etcd, ours, join(directory, 'second'), flagsOf(benchmark, directory))
  try {
    await load('pods', server.url, 'create', generator)
    for (const phase of ['get', 'list0']) {
      const rates = (servers: readonly Server[]): Promise<number> =>
        Promise.all(servers.map(({ url }) => load('pods', url, phase, generator))).then((results) =>
          results.flat().reduce((sum, { rate }) => sum + rate, 0),
        )
      const [one, two] = [await rates([server]), await rates([server, second])]
      console.log(`${phase}: ${one.toFixed(0)} a second by one server, ${two.toFixed(0)} by two`)
    }
  } finally {
    await stopProcess(second)
  }
}
