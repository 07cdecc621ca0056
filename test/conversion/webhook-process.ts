/**
 * A conversion webhook of widgets over HTTPS, in a process of its own. What it does wrong is told to it while it runs.
 */
import { createServer } from 'node:https'
import { setTimeout } from 'node:timers/promises'
import { answerMessages, listening } from '../support/answering-process.ts'
import { convertWidget, type Widget } from './widgets.ts'

/** How it answers. */
export type Manner =
  | 'well'
  | 'never'
  | 'slowly'
  | 'by hanging up, once'
  | 'status 500'
  | 'status 404'
  | 'no JSON'
  | 'no response'
  | 'another uid'
  | 'another review'
  | 'failure'
  | 'failure without words'
  | 'none'
  | 'wrong version'
  | 'wrong kind'
  | 'another name'
  | 'another namespace'
  | 'another object'
  | 'no metadata'
  | 'labels that are none'
  | 'numbers as labels'
  | 'a list'
  | 'other metadata'

export interface Seen {
  readonly apiVersion: string
  readonly desiredAPIVersion: string
  readonly names: readonly (string | undefined)[]
  readonly headers: Readonly<Record<string, unknown>>
  readonly url: string | undefined
}

export interface WebhookOptions {
  readonly serving: { readonly cert: string; readonly key: string }
  readonly port: number
}

interface Messages {
  readonly start: WebhookOptions
  readonly manner: Manner
  readonly seen: true
}

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Widget[] }
}

/** How long a slow answer takes. */
const slowMs = 40

let manner: Manner = 'well'
let seen: Seen[] = []

const changed = (widget: Widget, metadata: object): Widget => ({
  ...widget,
  metadata: { ...widget.metadata, ...metadata },
})

function misconverted(widget: Widget): unknown {
  switch (manner) {
    case 'wrong version':
      return { ...widget, apiVersion: 'shop.example.com/v9' }
    case 'wrong kind':
      return { ...widget, kind: 'Gadget' }
    case 'another name':
      return changed(widget, { name: 'other' })
    case 'another namespace':
      return changed(widget, { namespace: 'other' })
    case 'another object':
      return changed(widget, { uid: 'other' })
    case 'no metadata':
      return { ...widget, metadata: undefined }
    case 'labels that are none':
      return changed(widget, { labels: { 'a b': 'c' } })
    case 'numbers as labels':
      return changed(widget, { labels: { a: 1 } })
    case 'a list':
      return { ...widget, kind: 'WidgetList', items: [] }
    case 'other metadata':
      return changed(widget, {
        labels: { by: 'webhook' },
        annotations: { by: 'webhook' },
        finalizers: ['a/b'],
        generation: 77,
        creationTimestamp: null,
      })
    default:
      return widget
  }
}

function answerTo({ apiVersion, kind, request: { uid, desiredAPIVersion, objects } }: Review): unknown {
  const bad = objects.find(({ metadata }) => metadata.name?.startsWith('bad'))
  const failure = (message?: string) => ({
    apiVersion,
    kind,
    response: { uid, result: { status: 'Failed', ...(message && { message }) } },
  })
  if (bad) return failure(`there is no way for ${bad.metadata.name}`)
  if (manner === 'no response') return { apiVersion, kind }
  if (manner === 'failure') return failure('not today')
  if (manner === 'failure without words') return failure()
  const convertedObjects =
    manner === 'none' ? [] : objects.map((object) => misconverted(convertWidget(object, desiredAPIVersion)))
  return {
    apiVersion,
    kind: manner === 'another review' ? 'AdmissionReview' : kind,
    response: { uid: manner === 'another uid' ? 'another' : uid, result: { status: 'Success' }, convertedObjects },
  }
}

function start({ serving, port }: WebhookOptions): Promise<number> {
  const server = createServer(serving, async (message, response) => {
    const review = JSON.parse(Buffer.concat(await message.toArray()).toString()) as Review
    const { objects, desiredAPIVersion } = review.request
    seen.push({
      apiVersion: review.apiVersion,
      desiredAPIVersion,
      names: objects.map(({ metadata }) => metadata.name),
      headers: message.headers,
      url: message.url,
    })
    if (manner === 'never') return
    if (manner === 'by hanging up, once') {
      manner = 'well'
      return message.socket.destroy()
    }
    if (manner === 'slowly') await setTimeout(slowMs)
    if (manner === 'status 500') return response.writeHead(500).end('out of order')
    if (manner === 'status 404') return response.writeHead(404).end()
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(manner === 'no JSON' ? 'pardon?' : JSON.stringify(answerTo(review)))
  })
  return listening(server, port, '0.0.0.0')
}

answerMessages<Messages>({
  start: async (options) => ({ port: await start(options) }),
  manner(next) {
    manner = next
    return {}
  },
  seen() {
    const told = seen
    seen = []
    return { seen: told }
  },
})
