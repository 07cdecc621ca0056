/** Probes a container by HTTP: a status from 200 to 399 is success. */

import { failure, type ProbeOutcome, success } from '../outcome.ts'
import { type HttpAnswer, HttpGetError, sendHttpGet } from './http-exchange.ts'
import type { HttpGetRequest } from './http-request.ts'

/** Rejects with a ProbeError if the body of the answer could not be read. */
export async function probeHttp(request: HttpGetRequest, timeoutMs: number): Promise<ProbeOutcome> {
  let answer: HttpAnswer
  try {
    answer = await sendHttpGet(request, timeoutMs)
  } catch (error) {
    if (error instanceof HttpGetError) return failure(error.message)
    throw error
  }
  const { status, body } = answer
  if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`)
  return status < 300
    ? success(body)
    : { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` }
}
