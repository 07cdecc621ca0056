/**
 * The HTTPS port of a component other than the API server: health, metrics, configuration and state. Requests are
 * authenticated and authorized by the cluster's API server, as for kube-controller-manager.
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

/** Responds to the requests of a path; undefined if the page does not exist. */
export type Page = (request: Request) => Response | Promise<Response> | undefined

export interface ComponentServerOptions {
  readonly bindAddress: string
  /** 0 takes any free port. */
  readonly port: number
  /** The flag that sets the port. */
  readonly portFlag: string
  readonly tls: KeyPair
  readonly access: DelegatedAccess
  /** The checks of `/healthz`, `/livez` and `/readyz`, besides `ping`. */
  readonly checks: (path: HealthPath) => readonly HealthCheck[]
  /** By path, or by prefix, which ends in a slash. */
  readonly pages: Readonly<Record<string, Page>>
  /** Serves `/debug/pprof/`. Default: true. */
  readonly profiling?: boolean
}

export interface ComponentServer {
  readonly port: number
  stop(graceMs: number): Promise<void>
}

const healthPaths: readonly HealthPath[] = ['healthz', 'livez', 'readyz']

/** Starts to listen. Rejects with an ExplainedError if the port is not available. */
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
    const listener = await listen({ bindAddress, port, tls, clientCA, handler: answer })
    return { port: listener.port, stop: (graceMs) => listener.close(graceMs) }
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
