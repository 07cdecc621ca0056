/** The paths of traces, below `/debug/testing/traces`. */
import { badRequest, methodNotAllowed, success } from '../../../machinery/status-error.ts'
import { json, pageNotFound, type Request, type Response } from '../../http/exchange.ts'
import { decodeBody, type Fields } from '../../request/bodies/decode-fields.ts'
import type { TracedTest } from './trace-data.ts'
import type { Traces } from './traces.ts'

const maxTestBytes = 4 * 1024 * 1024
const testFields: Fields = {
  ...{ name: 'string', file: 'string', outcome: 'string' },
  ...{ error: 'string', stack: 'string', output: 'string' },
}

export async function tracesOf(
  traces: Traces,
  request: Request,
  name: string | undefined,
  action: string | undefined,
): Promise<Response> {
  const { method } = request
  if (action !== undefined && (action !== 'page' || name === undefined)) return pageNotFound()
  if (action === 'page' && name !== undefined) return page(traces, request, name)
  if (method === 'POST' && name === undefined) return json(201, await traces.begin())
  if (method === 'GET' && name !== undefined) return json(200, await traces.read(name, { name: '' }))
  if (method !== 'DELETE') throw methodNotAllowed()
  traces.remove(name)
  return json(200, success())
}

/** Answers with the HTML of a page for a browser, with the test that the body describes. */
async function page(traces: Traces, request: Request, name: string): Promise<Response> {
  if (request.method !== 'POST') throw methodNotAllowed()
  const {
    name: title = '',
    outcome,
    ...rest
  } = await decodeBody<Partial<TracedTest>>(request, testFields, maxTestBytes)
  if (outcome !== undefined && outcome !== 'passed' && outcome !== 'failed')
    throw badRequest(`outcome must be passed or failed, not ${JSON.stringify(outcome)}.`)
  const { tracePage } = await import('./trace-page.ts')
  return json(200, { page: tracePage(await traces.read(name, { name: title, outcome, ...rest })) })
}
