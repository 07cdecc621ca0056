/** Calls of a cloud's HTTP API: errors as sentences, and another try when the cloud is busy. */
import { messageOf } from '../../../../lib/message-of.ts'
import type { CloudMachine } from './cloud-machine.ts'

/** A call that failed. */
export class CloudError extends Error {
  /** The cloud's own name of the error, such as `RequestLimitExceeded`; empty if there was no answer. */
  readonly code: string
  /** True if another try may succeed. */
  readonly isTemporary: boolean

  constructor(message: string, { code, isTemporary }: { readonly code: string; readonly isTemporary: boolean }) {
    super(message)
    this.name = 'CloudError'
    this.code = code
    this.isTemporary = isTemporary
  }
}

export interface CloudRequest {
  /** For messages: `CreateRoute of AWS`. */
  readonly name: string
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface CloudAnswer {
  readonly status: number
  readonly text: string
}

/** Time for an answer, in ms. */
const answerMs = 10_000
/** As AWS's client in upstream's flannel. */
const maxRetries = 5
const pauseMs = { first: 200, most: 5_000 } as const

/** Sends a request once. Rejects with a temporary CloudError if there is no answer. */
export async function send(
  { fetch }: Pick<CloudMachine, 'fetch'>,
  { name, url, method, headers, body }: CloudRequest,
  signal: AbortSignal,
): Promise<CloudAnswer> {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    const init = { method, headers, signal: limited, ...(body !== undefined && { body }) }
    const response = await fetch(url, init)
    return { status: response.status, text: await response.text() }
  } catch (error) {
    signal.throwIfAborted()
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new CloudError(`${name} got no answer from ${new URL(url).origin}: ${messageOf(cause)}`, {
      code: '',
      isTemporary: true,
    })
  }
}

/** Repeats a task after temporary errors, with a back-off and chance, so that nodes do not come at one time. */
export async function retried<T>(
  { pause, random }: Pick<CloudMachine, 'pause' | 'random'>,
  signal: AbortSignal,
  task: () => Promise<T>,
): Promise<T> {
  for (let i = 0; ; i++)
    try {
      return await task()
    } catch (error) {
      if (!(error instanceof CloudError) || !error.isTemporary || i >= maxRetries) throw error
      await pause(Math.min(pauseMs.most, pauseMs.first * 2 ** i) * (0.5 + random() / 2), signal)
    }
}

/** True for answers after which another try may succeed, whatever the API. */
export const isBusy = (status: number): boolean => status === 429 || status >= 500
