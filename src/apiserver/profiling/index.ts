/**
 * `/debug/pprof/`: profiles of the running process for `go tool pprof`, under the paths, parameters and messages of
 * Go's net/http/pprof. What only Go has (goroutines, locks, threads, traces) is an unknown profile here.
 */
import { own } from '../../lib/own.ts'
import { ProfilingInUseError } from '../../lib/profiling/session.ts'
import type { Documents } from '../http/documents.ts'
import { type Request, type Response, text } from '../http/exchange.ts'

const prefix = '/debug/pprof/'
const usualCpuSeconds = 30
const usualHeapSeconds = 10

/** Answers requests for profiles; undefined for other paths. */
export const profiles: Documents = (path) => {
  if (path === '/debug/pprof') return () => ({ status: 301, headers: { location: prefix } })
  if (!path.startsWith(prefix)) return undefined
  return own(pages, path.slice(prefix.length)) ?? unknownProfile
}

/** Everything that takes profiles is loaded when one is asked for: servers start without it. */
const pages: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
  '': async () =>
    text(200, (await import('./index-page.ts')).indexPage, { 'content-type': 'text/html; charset=utf-8' }),
  cmdline: () => text(200, process.argv.join('\0')),
  // Profiles have the names in them.
  symbol: () => text(200, 'num_symbols: 0\n'),
  profile: ({ query, signal }) => {
    const seconds = positiveInteger(query.get('seconds')) ?? usualCpuSeconds
    return taken('profile', 'CPU', async () =>
      (await import('../../lib/profiling/cpu.ts')).cpuProfile(seconds * 1000, signal),
    )
  },
  heap: (request) => ofHeap('heap', 'live', request),
  allocs: (request) => ofHeap('allocs', 'all', request),
}

const unknownProfile = (): Response => text(404, 'Unknown profile\n', { 'x-go-pprof': '1' })

function ofHeap(name: string, of: 'live' | 'all', { query, signal }: Request): Response | Promise<Response> {
  const given = query.get('seconds')
  const seconds = given ? positiveInteger(given) : usualHeapSeconds
  if (seconds === undefined)
    return text(400, 'invalid value for "seconds" - must be a positive integer\n', { 'x-go-pprof': '1' })
  const collect = Number(query.get('gc') ?? 0) > 0
  return taken(name, 'heap', async () => {
    const { heapProfile } = await import('../../lib/profiling/heap.ts')
    return heapProfile({ of, durationMs: seconds * 1000, collect, signal })
  })
}

/** A profile, or why there is none. */
async function taken(name: string, kind: string, take: () => Promise<Buffer>): Promise<Response> {
  try {
    const headers = {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${name}"`,
      'x-content-type-options': 'nosniff',
    }
    return { status: 200, headers, body: await take() }
  } catch (error) {
    if (!(error instanceof ProfilingInUseError)) throw error
    return text(500, `Could not enable ${kind} profiling: ${error.message}\n`, { 'x-go-pprof': '1' })
  }
}

/** Timers take no more: 24 days. */
const mostSeconds = 2_147_483

function positiveInteger(given: string | null): number | undefined {
  return given !== null && /^\+?\d+$/.test(given) && Number(given) > 0
    ? Math.min(Number(given), mostSeconds)
    : undefined
}
