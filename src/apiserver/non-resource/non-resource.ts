/** Paths that are no resources: health, version, metrics, discovery, OpenAPI, keys. */

import { own } from '../../lib/own.ts'
import { methodNotAllowed } from '../../machinery/status-error.ts'
import { type HealthCheck, type HealthPath, health } from '../health/health.ts'
import { healthMetrics } from '../health/health-metrics.ts'
import type { Documents } from '../http/documents.ts'
import { type Request, type Response, text } from '../http/exchange.ts'
import { indented } from '../negotiation/pretty.ts'
import type { VersionInfo } from '../version/version.ts'
import { keySet, type OpenidIssuer, openidConfiguration } from './openid.ts'

export interface NonResourceOptions {
  readonly checks: Readonly<Record<HealthPath, readonly HealthCheck[]>>
  readonly version: VersionInfo
  readonly metrics: () => string
  /** Undefined if no tokens are issued, or the issuer has no valid URL. */
  readonly issuer: OpenidIssuer | undefined
  readonly serverUrl: () => string
  readonly documents: readonly Documents[]
  /** Paths of discovery and OpenAPI, for the index at `/`. */
  readonly documentPaths: () => readonly string[]
}

/** Always indented, as upstream's. */
const page = (value: unknown): Response => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(indented(value)),
})

/** Throws 405 for methods that write. */
function checkReadOnly(request: Request): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
}

/** Answers paths that are no resources; undefined for an unknown path. */
export type NonResourceHandler = (request: Request) => Promise<Response> | undefined

export function nonResource(options: NonResourceOptions): NonResourceHandler {
  const { checks, version, metrics, issuer, serverUrl, documents, documentPaths } = options
  const healthPaths = Object.keys(checks) as HealthPath[]
  const results = healthMetrics()
  const index = (): readonly string[] =>
    [
      ...documentPaths(),
      ...healthPaths.flatMap((path) => [`/${path}`, ...checks[path].map(({ name }) => `/${path}/${name}`)]),
      ...(issuer ? ['/.well-known/openid-configuration', '/openid/v1/jwks'] : []),
      '/metrics',
      '/metrics/slis',
      '/version',
    ].sort()
  const exact: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    '/': () => page({ paths: index() }),
    '/version': () => page(version),
    '/version/': () => page(version),
    '/metrics': () => text(200, metrics(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
    '/metrics/slis': () => results.page(),
    ...(issuer && {
      '/.well-known/openid-configuration': () => openidConfiguration(issuer, serverUrl()),
      '/openid/v1/jwks': (request: Request) => keySet(request, issuer),
    }),
  }
  return (request) => {
    const { path } = request
    const found = own(exact, path)
    if (found) return answer(request, found)
    const healthPath = healthPaths.find((name) => path === `/${name}` || path.startsWith(`/${name}/`))
    if (healthPath) return answer(request, () => health(healthPath, checks[healthPath], request, results))
    for (const find of documents) {
      const respond = find(path)
      if (respond) return answer(request, respond)
    }
    return undefined
  }
}

async function answer(
  request: Request,
  respond: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  checkReadOnly(request)
  const response = await respond(request)
  return request.method === 'HEAD' ? { ...response, body: undefined } : response
}
