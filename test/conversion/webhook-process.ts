/**
 * A conversion webhook for widgets over HTTPS, in a child process. Messages make it misbehave while it runs.
 */
import { createServer } from 'node:https'
import { setTimeout } from 'node:timers/promises'
import { answerMessages, listening } from '../support/answering-process.ts'
import { convertWidget, type Widget } from './widgets.ts'

export type Behavior =
  | 'correct'
  | 'no answer'
  | 'slow'
  | 'hang up once'
  | 'status 500'
  | 'status 404'
  | 'no JSON'
  | 'no response'
  | 'another uid'
  | 'another review'
  | 'failure'
  | 'failure without a message'
  | 'no objects'
  | 'wrong version'
  | 'wrong kind'
  | 'another name'
  | 'another namespace'
  | 'another object'
  | 'no metadata'
  | 'invalid labels'
  | 'numbers as labels'
  | 'a list'
  | 'other metadata'

export interface ReceivedReview {
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
  readonly behavior: Behavior
  readonly seen: true
}

interface Review {
  readonly kind: string
  readonly apiVersion: string
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Widget[] }
}

/** Delay of a slow answer. */
const slowMs = 40

let behavior: Behavior = 'correct'
let seen: ReceivedReview[] = []

const withMetadata = (widget: Widget, metadata: object): Widget => ({
  ...widget,
  metadata: { ...widget.metadata, ...metadata },
})

function convertFaultily(widget: Widget): unknown {
  switch (behavior) {
    case 'wrong version':
      return { ...widget, apiVersion: 'shop.example.com/v9' }
    case 'wrong kind':
      return { ...widget, kind: 'Gadget' }
    case 'another name':
      return withMetadata(widget, { name: 'other' })
    case 'another namespace':
      return withMetadata(widget, { namespace: 'other' })
    case 'another object':
      return withMetadata(widget, { uid: 'other' })
    case 'no metadata':
      return { ...widget, metadata: undefined }
    case 'invalid labels':
      return withMetadata(widget, { labels: { 'a b': 'c' } })
    case 'numbers as labels':
      return withMetadata(widget, { labels: { a: 1 } })
    case 'a list':
      return { ...widget, kind: 'WidgetList', items: [] }
    case 'other metadata':
      return withMetadata(widget, {
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
  if (bad) return failure(`cannot convert ${bad.metadata.name}`)
  if (behavior === 'no response') return { apiVersion, kind }
  if (behavior === 'failure') return failure('not today')
  if (behavior === 'failure without a message') return failure()
  const convertedObjects =
    behavior === 'no objects' ? [] : objects.map((object) => convertFaultily(convertWidget(object, desiredAPIVersion)))
  return {
    apiVersion,
    kind: behavior === 'another review' ? 'AdmissionReview' : kind,
    response: { uid: behavior === 'another uid' ? 'another' : uid, result: { status: 'Success' }, convertedObjects },
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
    if (behavior === 'no answer') return
    if (behavior === 'hang up once') {
      behavior = 'correct'
      return message.socket.destroy()
    }
    if (behavior === 'slow') await setTimeout(slowMs)
    if (behavior === 'status 500') return response.writeHead(500).end('out of order')
    if (behavior === 'status 404') return response.writeHead(404).end()
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(behavior === 'no JSON' ? 'pardon?' : JSON.stringify(answerTo(review)))
  })
  return listening(server, port, '0.0.0.0')
}

answerMessages<Messages>({
  start: async (options) => ({ port: await start(options) }),
  behavior(next) {
    behavior = next
    return {}
  },
  seen() {
    const received = seen
    seen = []
    return { seen: received }
  },
})
