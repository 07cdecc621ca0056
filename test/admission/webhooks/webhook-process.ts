/**
 * Admission webhooks over HTTPS, in a separate process, one at each path. The test controls their answers at runtime.
 */
import { createServer } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { answerMessages, listening } from '../../support/answering-process.ts'

/** The behaviour of a webhook. Default: allows everything. */
export interface Behaviour {
  readonly manner?:
    | 'well'
    | 'slowly'
    | 'never'
    | 'without end'
    | 'huge'
    | 'by hanging up'
    | 'status 500'
    | 'no JSON'
    | 'no response'
    | 'no kind'
    | 'another uid'
    | 'another review'
  /** The uid of the answer. Default: that of the request. */
  readonly version?: string
  /** Further fields of the response. */
  readonly response?: Readonly<Record<string, unknown>>
  /** A JSON patch. It is sent in base64, with its type. */
  readonly patch?: readonly object[]
}

export interface Asked {
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly review: {
    readonly kind: string
    readonly apiVersion: string
    readonly request: Readonly<Record<string, unknown>> & { readonly uid: string }
  }
}

interface ProcessOptions {
  readonly cert: string
  readonly key: string
}

interface Messages {
  readonly start: ProcessOptions
  readonly behave: { readonly path: string; readonly behaviour: Behaviour }
  readonly asked: true
}

const behaviours = new Map<string, Behaviour>()
let asked: Asked[] = []
/** The delay of a slow answer, in ms. */
const slowMs = 2000
const chunk = Buffer.alloc(1024 * 1024, ' ')

function answerTo(
  { apiVersion, kind, request: { uid } }: Asked['review'],
  { manner, version, response, patch }: Behaviour,
): unknown {
  if (manner === 'no response') return { apiVersion, kind }
  return {
    ...(manner !== 'no kind' && {
      apiVersion: version ?? apiVersion,
      kind: manner === 'another review' ? 'ConversionReview' : kind,
    }),
    response: {
      uid: manner === 'another uid' ? 'another' : uid,
      allowed: true,
      ...(patch && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
      ...response,
    },
  }
}

function start({ cert, key }: ProcessOptions): Promise<number> {
  const server = createServer({ cert, key }, async (message, response) => {
    const [path = '', query = ''] = (message.url ?? '').split('?')
    const review = JSON.parse(Buffer.concat(await message.toArray()).toString()) as Asked['review']
    asked.push({ path, query, headers: message.headers, review })
    const behaviour = behaviours.get(path) ?? {}
    const { manner } = behaviour
    if (manner === 'never') return
    if (manner === 'slowly') await delay(slowMs)
    if (manner === 'by hanging up') return message.socket.destroy()
    if (manner === 'status 500') return response.writeHead(500).end('out of order')
    response.writeHead(200, { 'content-type': 'application/json' })
    if (manner === 'without end') {
      const more = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(more))
      return
    }
    if (manner === 'huge') {
      // Writes as fast as the client reads, until it disconnects.
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more)
      }
      return more()
    }
    response.end(manner === 'no JSON' ? 'pardon?' : JSON.stringify(answerTo(review, behaviour)))
  })
  return listening(server)
}

answerMessages<Messages>({
  start: async (options) => ({ port: await start(options) }),
  behave({ path, behaviour }) {
    behaviours.set(path, behaviour)
    return {}
  },
  asked() {
    const reviews = asked
    asked = []
    return { asked: reviews }
  },
})
