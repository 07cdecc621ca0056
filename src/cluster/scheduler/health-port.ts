/**
 * The port of a scheduler that runs alone: `/healthz`, `/livez` and `/readyz` for everybody, `/metrics` for those whom the API server
 * knows by their token and allows to read it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { V1TokenReview } from '@kubernetes/client-node'
import { subjectAccessReviews } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import type { KeyPair } from '../pki/key-pair.ts'

export interface HealthPortOptions {
  readonly bindAddress: string
  /** 0 takes any free one. */
  readonly port: number
  readonly tls: KeyPair
  readonly isReady: () => boolean
  readonly metrics: () => string
  /** Who reviews tokens, and what their owners may do. */
  readonly authentication: RestClient
  readonly authorization: RestClient
}

export interface HealthPort {
  readonly port: number
  stop(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly body: string
}

/** Requests that say nothing for so long are ended. Milliseconds. */
const patienceMs = 10_000
const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** Resolves when it listens. Rejects with an ExplainedError if the port cannot be had. */
export async function healthPort(options: HealthPortOptions): Promise<HealthPort> {
  const { bindAddress, port, tls } = options
  const server = createServer({ ...tls, requestTimeout: patienceMs }, (request, response) => void answerTo(options, request, response))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, bindAddress, resolve)
  try {
    await promise
  } catch (error) {
    throw new ExplainedError(`cannot listen on ${bindAddress}:${port}: ${reasonOf(error)}; choose another --secure-port, or 0 for none`, { cause: error })
  }
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function answerTo(options: HealthPortOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, body } = await answer(options, request).catch((error): Answer => ({ status: 500, body: `${reasonOf(error)}\n` }))
  response.writeHead(status, { 'content-type': status === 200 && request.url === '/metrics' ? metricsType : 'text/plain; charset=utf-8' }).end(body)
}

async function answer(options: HealthPortOptions, { url = '', headers, method }: IncomingMessage): Promise<Answer> {
  const [path = ''] = url.split('?')
  if (method !== 'GET') return { status: 405, body: 'GET alone is answered here\n' }
  if (path === '/healthz' || path === '/livez') return { status: 200, body: 'ok' }
  if (path === '/readyz')
    return options.isReady() ? { status: 200, body: 'ok' } : { status: 500, body: 'another scheduler leads, or the cluster is not known yet\n' }
  if (path !== '/metrics') return { status: 404, body: '404 page not found\n' }
  const refusal = await refusalOf(options, path, headers.authorization)
  return refusal ?? { status: 200, body: options.metrics() }
}

/** Asks the API server who that is and whether they may. */
async function refusalOf({ authentication, authorization }: HealthPortOptions, path: string, header: string | undefined): Promise<Answer | undefined> {
  const token = /^Bearer (.+)$/i.exec(header ?? '')?.[1]
  if (!token) return { status: 401, body: 'Unauthorized: send a bearer token\n' }
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } }
  const { status } = await authentication.request<V1TokenReview>('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { body: review })
  if (!status?.authenticated) return { status: 401, body: 'Unauthorized: the API server does not know this token\n' }
  const { username: user, groups, uid } = status.user ?? {}
  const access = await authorization.create(subjectAccessReviews, {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user, groups, uid, nonResourceAttributes: { path, verb: 'get' } },
  })
  return access.status?.allowed ? undefined : { status: 403, body: `forbidden: User ${JSON.stringify(user)} cannot get path ${JSON.stringify(path)}\n` }
}
