/** Admission webhooks over HTTPS, in a process of its own: one at each path. What they answer is told to them while they run. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What a webhook does. Unless said, it allows everything. */
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
    | 'another uid'
    | 'another review'
  /** Members of the response. */
  readonly response?: Readonly<Record<string, unknown>>
  /** A JSON patch; it is sent in base64, with its type. */
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

export interface ProcessOptions {
  readonly cert: string
  readonly key: string
}

export type Message =
  | { readonly start: ProcessOptions }
  | { readonly behave: { readonly path: string; readonly behaviour: Behaviour } }
  | { readonly asked: true }

const behaviours = new Map<string, Behaviour>()
let asked: Asked[] = []
/** How long a slow answer takes, in ms. */
const slowMs = 2000
const chunk = Buffer.alloc(1024 * 1024, ' ')

function answerTo({ apiVersion, kind, request: { uid } }: Asked['review'], { manner, response, patch }: Behaviour): unknown {
  if (manner === 'no response') return { apiVersion, kind }
  return {
    apiVersion,
    kind: manner === 'another review' ? 'ConversionReview' : kind,
    response: {
      uid: manner === 'another uid' ? 'another' : uid,
      allowed: true,
      ...(patch && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
      ...response,
    },
  }
}

async function start({ cert, key }: ProcessOptions): Promise<number> {
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
      // As fast as it is taken, until nobody does any more.
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more)
      }
      return more()
    }
    response.end(manner === 'no JSON' ? 'pardon?' : JSON.stringify(answerTo(review, behaviour)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

process.on('message', async (message: Message) => {
  if ('start' in message) return process.send?.({ port: await start(message.start) })
  if ('behave' in message) {
    behaviours.set(message.behave.path, message.behave.behaviour)
    return process.send?.({})
  }
  const told = asked
  asked = []
  process.send?.({ asked: told })
})
process.on('disconnect', () => process.exit())
