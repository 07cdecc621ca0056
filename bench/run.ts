/**
 * `npm run bench`: starts `./t8s up` on a temporary directory and measures start, memory and kload's phases. Asserts nothing.
 * Flags: --kind pods|configmaps (both unless said), -n OBJECTS (2000), --phases create,get,…, --kload PATH (that binary makes the
 * load instead of bench/load.ts). Compare numbers of one run on one machine only. Others use the same cores: a bare server is
 * measured before and after.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { LoadOptions, PhaseResult } from './load.ts'
import { idleMegabytes, loadedMegabytes, startMs, targetRatio, upstream, watchP99Ms } from './reference.ts'

type Kind = LoadOptions['kind']

const launcher = join(import.meta.dirname, '../t8s')
const allPhases = ['create', 'get', 'list', 'list0', 'table', 'update', 'patch', 'watch', 'delete']
const token = 'bench'
const starts = 5
const clients = 16

interface Server {
  readonly process: ChildProcess
  readonly url: string
  /** From the start of the process to the first ok of /readyz, ms. */
  readonly readyMs: number
}

const { values: flags } = parseArgs({
  options: {
    kind: { type: 'string' },
    n: { type: 'string', short: 'n', default: '2000' },
    phases: { type: 'string', default: allPhases.join(',') },
    kload: { type: 'string' },
  },
})
const kinds: readonly Kind[] = flags.kind ? [flags.kind as Kind] : ['pods', 'configmaps']
for (const kind of kinds) if (!(kind in upstream)) throw new Error(`--kind ${kind}: choose pods or configmaps`)
const phases = flags.phases.split(',')

const directory = mkdtempSync(join(tmpdir(), 't8s-bench-'))
const tokenFile = join(directory, 'tokens.csv')
writeFileSync(tokenFile, `${token},bench,1,"system:masters"\n`)
let server: Server | undefined
try {
  // Builds what is out of date, so that no start is charged for it.
  execFileSync(launcher, ['version'], { stdio: 'ignore' })
  // Others on the machine spoil every number.
  console.log(`${availableParallelism()} cores, load average before: ${loadavg()[0]?.toFixed(1)}`)
  server = await start()
  const times: number[] = []
  for (let i = 0; i < starts; i++) {
    await stop(server)
    server = await start()
    times.push(server.readyMs)
  }
  // At rest: what it does after the start is over.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const idle = megabytes(server)
  const bare = [await bareServer()]
  const results: [Kind, PhaseResult][] = []
  for (const kind of kinds) for (const result of await load(kind, server.url, phases)) results.push([kind, result])
  const loaded = megabytes(server)
  bare.push(await bareServer())
  report(times, idle, loaded, results, bare)
} finally {
  if (server) await stop(server)
  rmSync(directory, { recursive: true, force: true })
}

async function start(): Promise<Server> {
  const port = await freePort()
  const started = performance.now()
  const child = spawn(launcher, ['up', '--data-dir', join(directory, 'data'), '--secure-port', String(port), '--token-auth-file', tokenFile], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `https://127.0.0.1:${port}`
  while (!(await isReady(port))) {
    if (child.exitCode !== null) throw new Error(`t8s up ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { process: child, url, readyMs: performance.now() - started }
}

/** GETs a second that a bare server in Node answers just now. */
async function bareServer(): Promise<number> {
  const pki = join(directory, 'data/pki')
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-server.ts'), join(pki, 'apiserver.crt'), join(pki, 'apiserver.key')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    const [result] = await load('pods', `https://127.0.0.1:${port.toString().trim()}`, ['get'])
    return result!.rate
  } finally {
    child.kill()
  }
}

async function stop({ process: child }: Server): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asked.on('error', () => resolve(false))
    asked.end()
  })
}

/** Resident memory of the server; the launcher's shell becomes the server. */
function megabytes({ process: { pid } }: Server): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]).toString()) / 1024
}

async function load(kind: Kind, url: string, phases: readonly string[]): Promise<PhaseResult[]> {
  if (flags.kload) return kload(flags.kload, kind, url, phases)
  const options: LoadOptions = { url, token, kind, n: Number(flags.n), clients, lists: 20, watchers: 50, watched: 500, phases }
  const text = await outputOf(process.execPath, [join(import.meta.dirname, 'load.ts'), JSON.stringify(options)])
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PhaseResult)
}

/** kload's lines: `create 1326.0 op/s p50 11.00 ms p99 32.00 ms 5.2 MB fails 0 <nil>`. */
async function kload(binary: string, kind: Kind, url: string, phases: readonly string[]): Promise<PhaseResult[]> {
  const text = await outputOf(binary, ['-base', url, '-token', token, '-kind', kind, '-n', flags.n, '-c', String(clients), '-phases', phases.join(',')])
  return [...text.matchAll(/^(\S+) +([\d.]+) (?:op|ev)\/s +p50 +([\d.]+) ms +p99 +([\d.]+) ms +(?:([\d.]+) MB +fails (\d+) (.*)|\(.*)$/gm)].map(
    ([, phase = '', rate, p50, p99, size = 0, failures = 0, firstFailure]) => ({
      phase,
      rate: Number(rate),
      p50: Number(p50),
      p99: Number(p99),
      megabytes: Number(size),
      failures: Number(failures),
      firstFailure,
    }),
  )
}

async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${text}`)
  return text
}

function report(times: readonly number[], idle: number, loaded: number, results: readonly [Kind, PhaseResult][], bare: readonly number[]): void {
  console.log(`bare http2 server: ${bare.map((rate) => Math.round(rate)).join(' before, ')} after, GETs a second`)
  const median = [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  const number = (value: number): string => (value < 100 ? value.toFixed(1) : String(Math.round(value)))
  const rows = [['', 'value', 'p50 ms', 'p99 ms', 'target', 'upstream', 'ratio']]
  // For time and memory less is better: the ratio says how many times better either way.
  const less = (name: string, value: number, unit: string, reference: { upstream: number; target: number }): unknown =>
    rows.push([
      name,
      `${number(value)} ${unit}`,
      '',
      '',
      `≤ ${reference.target}`,
      String(reference.upstream),
      `${(reference.upstream / value).toFixed(2)}×`,
      '',
    ])
  less(`start to /readyz (median of ${times.length})`, median, 'ms', startMs)
  less('resident memory, idle', idle, 'MB', idleMegabytes)
  less('resident memory, after the load', loaded, 'MB', loadedMegabytes)
  for (const [kind, { phase, rate, p50, p99 }] of results) {
    const reference = upstream[kind][phase]
    const unit = phase === 'watch' ? 'ev/s' : 'op/s'
    const target = reference ? `≥ ${number(reference * targetRatio)}${phase === 'watch' ? `, p99 ≤ ${watchP99Ms.target}` : ''}` : ''
    rows.push([
      `${kind} ${phase}`,
      `${number(rate)} ${unit}`,
      number(p50),
      number(p99),
      target,
      reference ? number(reference) : '',
      reference ? `${(rate / reference).toFixed(2)}×` : '',
    ])
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows) console.log(row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  '))
  for (const [kind, { phase, failures, firstFailure }] of results) if (failures > 0) console.log(`${kind} ${phase}: ${failures} failed: ${firstFailure ?? ''}`)
}
