/**
 * `/debug/pprof/`: profiles of the running process for `go tool pprof`, with the paths, parameters and messages of Go's
 * net/http/pprof. Profiles that only Go has (goroutines, locks, threads, traces) are unknown here.
 */
import { own } from '../../lib/own.ts'
import { ProfilingInUseError } from '../../lib/profiling/session.ts'
import { type Request, type Response, text } from '../http/exchange.ts'

const prefix = '/debug/pprof/'
const defaultCpuSeconds = 30
const defaultHeapSeconds = 10

/** The parts of a request that profiles depend on. */
type ProfileRequest = Pick<Request, 'query' | 'signal'>

type Profile = (request: ProfileRequest) => Response | Promise<Response>

/** Answers requests for profiles; undefined for other paths. */
export const profiles = (path: string): Profile | undefined => {
  if (path === '/debug/pprof') return () => ({ status: 301, headers: { location: prefix } })
  if (!path.startsWith(prefix)) return undefined
  return own(pages, path.slice(prefix.length)) ?? unknownProfile
}

/** The pages by name. Profiling code is loaded on the first request, to keep the start of servers fast. */
const pages: Readonly<Record<string, Profile>> = {
  '': async () =>
    text(200, (await import('./index-page.ts')).indexPage, { 'content-type': 'text/html; charset=utf-8' }),
  cmdline: () => text(200, process.argv.join('\0')),
  // Profiles contain the names already.
  symbol: () => text(200, 'num_symbols: 0\n'),
  profile: ({ query, signal }) => {
    const seconds = positiveInteger(query.get('seconds')) ?? defaultCpuSeconds
    return taken('profile', 'CPU', async () =>
      (await import('../../lib/profiling/cpu.ts')).cpuProfile(seconds * 1000, signal),
    )
  },
  heap: (request) => ofHeap('heap', 'live', request),
  allocs: (request) => ofHeap('allocs', 'all', request),
}

const unknownProfile = (): Response => text(404, 'Unknown profile\n', { 'x-go-pprof': '1' })

function ofHeap(name: string, of: 'live' | 'all', { query, signal }: ProfileRequest): Response | Promise<Response> {
  const given = query.get('seconds')
  const seconds = given ? positiveInteger(given) : defaultHeapSeconds
  if (seconds === undefined)
    return text(400, 'invalid value for "seconds" - must be a positive integer\n', { 'x-go-pprof': '1' })
  const collect = Number(query.get('gc') ?? 0) > 0
  return taken(name, 'heap', async () => {
    const { heapProfile } = await import('../../lib/profiling/heap.ts')
    return heapProfile({ of, durationMs: seconds * 1000, collect, signal })
  })
}

/** Responds with a profile, or the reason why there is none. */
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

/** The limit of timers: 24 days. */
const maxSeconds = 2_147_483

function positiveInteger(given: string | null): number | undefined {
  return given !== null && /^\+?\d+$/.test(given) && Number(given) > 0 ? Math.min(Number(given), maxSeconds) : undefined
}
