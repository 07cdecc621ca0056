/** The error for a response with an error status, with the messages of Go's API client. */
import type { IncomingHttpHeaders } from 'node:http'
import { goQuote } from '../../../../lib/go/go-quote.ts'

/** The webhook, or a proxy in front of it, has responded with an error status. */
export class WebhookAnswerError extends Error {
  readonly status: number
  /** The Retry-After in ms; undefined if there is none. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, status: number, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

export const webhookAnswerError = (status: number, headers: IncomingHttpHeaders, body: Buffer): WebhookAnswerError =>
  new WebhookAnswerError(
    answerError(status, body, headers['content-type']),
    status,
    retryAfterMs(headers['retry-after']),
  )

/** Supports seconds only (RFC 9110 also has dates), as Go's client. */
const retryAfterMs = (header = ''): number | undefined => (/^\d+$/.test(header) ? Number(header) * 1000 : undefined)

const reasons: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

/** The maximum length of a body in a message. */
const shownLength = 2048

/** Returns the message. A body whose content type is not text is omitted. */
export function answerError(status: number, body: Buffer, contentType = ''): string {
  const content = body.toString().trim()
  const message = statusMessage(content)
  if (message) return message
  const text = contentType === '' || /^text\//i.test(contentType) ? content.slice(0, shownLength) : unknown
  if (status === 403 || status === 415) return text
  if (status === 406)
    return text === '' || text === unknown
      ? 'the server was unable to respond with a content type that the client supports'
      : text
  const known = reasons[status]
  if (known) return known
  return status >= 500
    ? `an error on the server (${goQuote(text)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`
}

const unknown = 'unknown'

/** Returns the message of a Status, if the body is one. */
function statusMessage(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const { kind, message } = JSON.parse(text) as { readonly kind?: unknown; readonly message?: unknown }
    return kind === 'Status' && typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
