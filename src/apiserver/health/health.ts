/** Health: `/healthz`, `/livez` and `/readyz`, each a list of named checks, one by one or together. */
import { pageNotFound, type Request, type Response, text } from '../http/exchange.ts'
import type { HealthMetrics } from './health-metrics.ts'

export interface HealthCheck {
  readonly name: string
  /** Returns the problem, or undefined if there is none. */
  readonly check: () => string | undefined | Promise<string | undefined>
}

export type HealthPath = 'healthz' | 'livez' | 'readyz'

export const ping: HealthCheck = { name: 'ping', check: () => undefined }

/** The log can always be written: it is standard error. */
export const log: HealthCheck = { name: 'log', check: () => undefined }

/**
 * Answers `/livez`, `/livez?verbose`, `/livez?exclude=etcd` and `/livez/etcd`; the result of a single check is not
 * recorded.
 */
export async function health(
  path: HealthPath,
  checks: readonly HealthCheck[],
  request: Request,
  metrics: HealthMetrics,
): Promise<Response> {
  const single = request.path.slice(path.length + 2)
  if (single) {
    const found = checks.find(({ name }) => name === single)
    if (!found) return pageNotFound()
    const problem = await found.check()
    return problem === undefined ? text(200, 'ok') : text(500, `internal server error: ${problem}\n`)
  }
  const excluded = new Set(request.query.getAll('exclude'))
  const lines: string[] = []
  let failed = false
  for (const { name, check } of checks) {
    if (excluded.delete(name)) {
      lines.push(`[+]${name} excluded: ok`)
      continue
    }
    const problem = await check()
    metrics.checked(path, name, problem === undefined)
    failed ||= problem !== undefined
    // Reasons are only for users who may read the logs.
    lines.push(problem === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`)
  }
  if (excluded.size)
    lines.push(
      'warn: some health checks cannot be excluded: no matches for ' +
        `${[...excluded].map((name) => JSON.stringify(name)).join(',')}`,
    )
  if (failed) return text(500, `${lines.join('\n')}\n${path} check failed\n`)
  return text(200, request.query.has('verbose') ? `${lines.join('\n')}\n${path} check passed\n` : 'ok')
}
