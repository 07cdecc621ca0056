/** Runs load generators, one process per phase, so that the server's CPU time is attributed to the phase. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { token } from '../server/rights.ts'
import { cpuMs, type Server } from '../server/server.ts'
import type { LoadOptions, PhaseResult } from './load.ts'
import type { Kind } from './objects.ts'

export const allPhases = [
  'create',
  'get',
  'list',
  'list0',
  'table',
  'update',
  'patch',
  'apply-same',
  'apply',
  'watch',
  'delete',
]

const clients = 16
const lists = 20
const watched = 500

export interface Generator {
  /** Number of objects of a kind. */
  readonly n: number
  /** Path of kload, to be used instead of load.ts. */
  readonly kload?: string
}

/** A phase with the server's CPU time per request. The cost of its watches is attributed to the watched creates. */
export type MeasuredPhase = PhaseResult & { readonly kind: Kind; readonly cpuMs?: number }

/** Runs phases in sequence. */
export async function measure(
  server: Server,
  kind: Kind,
  phases: readonly string[],
  generator: Generator,
): Promise<MeasuredPhase[]> {
  const measured: MeasuredPhase[] = []
  for (const phase of phases) {
    // Creates the objects of apply phases first.
    if (phase.startsWith('apply')) await load(kind, server.url, 'apply-first', generator)
    const before = cpuMs(server)
    const results = await load(kind, server.url, phase, generator)
    const after = cpuMs(server)
    const spent =
      before === undefined || after === undefined ? undefined : (after - before) / requestsOf(phase, generator.n)
    for (const result of results) measured.push({ ...result, kind, ...(result.phase === phase && { cpuMs: spent }) })
  }
  return measured
}

/** Counts requests as the reference does: an update is a GET and a PUT, a watch all events of a create. */
export function requestsOf(phase: string, n: number): number {
  if (phase === 'get') return n * 4
  if (phase === 'watch') return watched
  return phase === 'list' || phase === 'list0' || phase === 'table' ? lists : n
}

export async function load(kind: Kind, url: string, phase: string, { n, kload }: Generator): Promise<PhaseResult[]> {
  // kload does not support apply.
  if (kload && !phase.startsWith('apply')) return runKload(kload, kind, url, phase, n)
  const options: LoadOptions = { url, token, kind, n, clients, lists, watchers: 50, watched, phases: [phase] }
  const text = await outputOf(process.execPath, [join(import.meta.dirname, 'load.ts'), JSON.stringify(options)])
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PhaseResult)
}

/** Parses kload's lines: `create 1326.0 op/s p50 11.00 ms p99 32.00 ms 5.2 MB fails 0 <nil>`. */
async function runKload(binary: string, kind: Kind, url: string, phase: string, n: number): Promise<PhaseResult[]> {
  const text = await outputOf(binary, [
    '-base',
    url,
    '-token',
    token,
    '-kind',
    kind,
    '-n',
    String(n),
    '-c',
    String(clients),
    '-phases',
    phase,
  ])
  return [
    ...text.matchAll(
      /^(\S+) +([\d.]+) (?:op|ev)\/s +p50 +([\d.]+) ms +p99 +([\d.]+) ms +(?:([\d.]+) MB +fails (\d+) (.*)|\(.*)$/gm,
    ),
  ].map(([, phase = '', rate, p50, p99, size = 0, failures = 0, firstFailure]) => ({
    phase,
    rate: Number(rate),
    p50: Number(p50),
    p99: Number(p99),
    megabytes: Number(size),
    failures: Number(failures),
    firstFailure,
  }))
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
