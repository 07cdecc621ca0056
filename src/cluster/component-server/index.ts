/**
 * The HTTPS port of a component that is no API server: its health, its metrics, its configuration, what it knows. Who
 * asks is found out and let in by the cluster's API server, as kube-controller-manager does it.
 */
import { type HealthCheck, type HealthPath, health, ping } from '../../apiserver/health/health.ts'
import { healthMetrics } from '../../apiserver/health/health-metrics.ts'
import { pageNotFound, type Request, type Response, text } from '../../apiserver/http/exchange.ts'
import { listen } from '../../apiserver/http/listener.ts'
import { profiles } from '../../apiserver/profiling/index.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { listenError } from '../listen-error.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import type { DelegatedAccess } from './delegated-access.ts'

/** Answers the requests of a path; undefined where there is nothing. */
export type Page = (request: Request) => Response | Promise<Response> | undefined

export interface ComponentServerOptions {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  /** The flag that says which. */
  readonly portFlag: string
  readonly tls: KeyPair
  readonly access: DelegatedAccess
  /** What `/healthz`, `/livez` and `/readyz` look at, each, beside that somebody answers. */
  readonly checks: (path: HealthPath) => readonly HealthCheck[]
  /** By their paths, or by the beginnings of paths, which end in a slash. */
  readonly pages: Readonly<Record<string, Page>>
  /** Serves `/debug/pprof/`, which is the default. */
  readonly profiling?: boolean
}

export interface ComponentServer {
  readonly port: number
  stop(graceMs: number): Promise<void>
}

const healthPaths: readonly HealthPath[] = ['healthz', 'livez', 'readyz']

/** Starts to listen. Rejects with an ExplainedError if the port cannot be had. */
export async function serveComponent({
  bindAddress,
  port,
  portFlag,
  tls,
  access,
  checks,
  pages,
  profiling = true,
}: ComponentServerOptions): Promise<ComponentServer> {
  const results = healthMetrics()
  const profile: Page = (request) => profiles(request.path)?.(request)
  const served: Readonly<Record<string, Page>> = {
    '/metrics/slis': () => results.page(),
    ...(profiling && { '/debug/pprof': profile, '/debug/pprof/': profile }),
    ...pages,
  }
  const answer = async (request: Request): Promise<Response> => {
    const { path } = request
    try {
      await access.admit(request)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return refusal(error)
    }
    const probed = healthPaths.find((name) => path === `/${name}` || path.startsWith(`/${name}/`))
    if (probed) return health(probed, [ping, ...checks(probed)], request, results)
    const page =
      served[path] ?? Object.entries(served).find(([begin]) => begin.endsWith('/') && path.startsWith(begin))?.[1]
    if (page && request.method !== 'GET') return text(405, 'Method Not Allowed\n', { allow: 'GET' })
    return page?.(request) ?? pageNotFound()
  }
  const clientCA = access.clientCA === undefined ? undefined : { bundle: access.clientCA }
  try {
    const { port: taken, close } = await listen({ bindAddress, port, tls, clientCA, handler: answer })
    return { port: taken, stop: close }
  } catch (error) {
    throw listenError(error, bindAddress, port, portFlag)
  }
}

function refusal(error: StatusError): Response {
  return {
    status: error.code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(error.status)),
  }
}
