/** A token webhook over HTTPS, in a separate process. The test controls its answers at runtime. */
import { createServer } from 'node:https'
import { answerMessages, listening } from '../../support/answering-process.ts'

export interface Behaviour {
  readonly manner?: 'well' | 'by hanging up' | 'status 500' | 'no JSON' | 'another kind' | 'huge'
  /** The number of failures before it answers correctly. Default: unlimited. */
  readonly times?: number
  readonly delayMs?: number
  readonly status?: Readonly<Record<string, unknown>>
}

export interface Asked {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] }
}

interface Messages {
  readonly start: { readonly cert: string; readonly key: string }
  readonly behave: Behaviour
  readonly asked: true
}

let behaviour: Behaviour = {}
let left = 0
let asked: Asked[] = []

function start(pair: { readonly cert: string; readonly key: string }): Promise<number> {
  const server = createServer(pair, async (message, response) => {
    const review = JSON.parse(Buffer.concat(await message.toArray()).toString()) as Asked
    asked.push(review)
    const { manner = 'well', delayMs = 0, status = {} } = behaviour
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    if (manner !== 'well' && left-- > 0) {
      if (manner === 'by hanging up') return message.socket.destroy()
      if (manner === 'status 500') return response.writeHead(500).end('out of order')
      if (manner === 'no JSON') return response.end('pardon?')
      if (manner === 'huge') return response.end(Buffer.alloc(2 * 1024 * 1024, ' '))
      return response.end(
        JSON.stringify({
          apiVersion: review.apiVersion,
          kind: 'SubjectAccessReview',
          status: { allowed: true, authenticated: true },
        }),
      )
    }
    const { apiVersion, kind } = review
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ apiVersion, kind, status }))
  })
  return listening(server)
}

answerMessages<Messages>({
  start: async (pair) => ({ port: await start(pair) }),
  behave(next) {
    behaviour = next
    left = next.times ?? Number.POSITIVE_INFINITY
    return {}
  },
  asked() {
    const tokens = asked
    asked = []
    return { asked: tokens }
  },
})
