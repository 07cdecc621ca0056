/**
 * An authorization webhook over HTTPS, in a separate process. The test controls its decisions and failures at runtime.
 */
import { createServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { answerMessages, listening } from '../../support/answering-process.ts'

/** The behaviour of the webhook. */
export type Manner =
  | 'well'
  | 'never'
  | 'status 500, twice'
  | 'status 403'
  | 'no JSON'
  | 'another kind'
  | 'both'
  | 'without end'
  | 'by hanging up, once'

/** The decisions by user: `yes` and `no` with a reason; no opinion on other users. */
export interface Start {
  readonly serving: { readonly cert: string; readonly key: string }
  /** The CA of its clients. If set, they need a certificate. */
  readonly clientCA?: string
}

export interface Seen {
  readonly apiVersion: string
  readonly spec: Readonly<Record<string, unknown>>
  readonly url: string | undefined
  readonly authorization: string | undefined
  /** The common name of the client's certificate. */
  readonly client: string | undefined
}

interface Messages {
  readonly start: Start
  readonly manner: Manner
  readonly seen: true
}

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly spec: { readonly user?: string }
}

let manner: Manner = 'well'
let failures = 0
let seen: Seen[] = []

function statusFor({ spec: { user = '' } }: Review): object {
  if (manner === 'both') return { allowed: true, denied: true, reason: 'confused' }
  if (user.startsWith('yes')) return { allowed: true, reason: 'the webhook says yes' }
  if (user.startsWith('no')) return { allowed: false, denied: true, reason: 'the webhook says no' }
  return { allowed: false, reason: 'the webhook does not know' }
}

function start({ serving, clientCA }: Start): Promise<number> {
  const tls = clientCA ? { ca: clientCA, requestCert: true, rejectUnauthorized: true } : {}
  const server = createServer({ ...serving, ...tls }, async (message, response) => {
    const review = JSON.parse(Buffer.concat(await message.toArray()).toString()) as Review & {
      readonly spec: Readonly<Record<string, unknown>>
    }
    // The server's own requests are not recorded.
    if (review.spec.user?.startsWith('system:')) {
      const status = { allowed: false }
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...review, status }))
    }
    const client = (message.socket as TLSSocket).getPeerCertificate?.()?.subject?.CN
    seen.push({
      apiVersion: review.apiVersion,
      spec: review.spec,
      url: message.url,
      authorization: message.headers.authorization,
      client: Array.isArray(client) ? client[0] : client,
    })
    const answer = {
      kind: manner === 'another kind' ? 'TokenReview' : review.kind,
      apiVersion: review.apiVersion,
      status: statusFor(review),
    }
    if (manner === 'never') return
    if (manner === 'by hanging up, once') {
      manner = 'well'
      return message.socket.destroy()
    }
    if (manner === 'status 403') return response.writeHead(403).end('go away')
    if (manner === 'status 500, twice' && failures++ < 2) return response.writeHead(500).end('out of order')
    if (manner === 'without end') {
      response.writeHead(200, { 'content-type': 'application/json' })
      const piece = Buffer.alloc(64 * 1024, ' ')
      const go = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', go)
      return go()
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(manner === 'no JSON' ? 'pardon?' : JSON.stringify(answer))
  })
  return listening(server)
}

answerMessages<Messages>({
  start: async (options) => ({ port: await start(options) }),
  manner(next) {
    manner = next
    failures = 0
    return {}
  },
  seen() {
    const reviews = seen
    seen = []
    return { seen: reviews }
  },
})
