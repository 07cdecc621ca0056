/** Responds with a Status, in the format that the client accepts; JSON if it accepts none of ours. */
import type { Status, StatusError } from '../../machinery/status-error.ts'
import { toYaml } from '../../machinery/yaml.ts'
import type { Request, Response } from '../http/exchange.ts'
import { negotiate } from './accept.ts'
import { indented, wantsPretty } from './pretty.ts'

export function statusResponse(request: Request, status: Status, code: number): Response {
  let format: 'json' | 'yaml' = 'json'
  try {
    format = negotiate(request.header('accept')).format
  } catch {
    // fall back to JSON
  }
  return {
    status: code,
    outcome: status,
    headers: { 'content-type': `application/${format}` },
    body: Buffer.from(
      format === 'yaml' ? toYaml(status) : wantsPretty(request) ? indented(status) : `${JSON.stringify(status)}\n`,
    ),
  }
}

export function errorResponse(request: Request, { status, code }: StatusError): Response {
  const response = statusResponse(request, status, code)
  if (status.details?.retryAfterSeconds) response.headers['retry-after'] = String(status.details.retryAfterSeconds)
  return response
}
