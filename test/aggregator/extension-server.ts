/**
 * A server of an aggregated API, for tests: the group orchard.example.com with Apples, in memory. It runs in a separate
 * process, reads the front proxy's CA and headers from the ConfigMap, and shares no code with the API server.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { type Apple, Apples, appleList } from './apples.ts'
import { aggregated, groupDocument, legacy, openapiV2, openapiV3, v3Index } from './orchard-documents.ts'

/** Options that the test passes to the process. */
export interface ExtensionOptions {
  /** The cluster, and a client certificate that may read the ConfigMap. */
  readonly cluster: { readonly url: string; readonly ca: string; readonly cert: string; readonly key: string }
  readonly serving: { readonly cert: string; readonly key: string }
  /** True if the server has aggregated discovery. */
  readonly aggregatedDiscovery: boolean
  readonly port: number
}

interface FrontProxy {
  readonly ca: string
  readonly names: readonly string[]
  readonly user: string
  readonly group: string
  readonly uid: string
  readonly extra: string
}

async function frontProxy({ url, ca, cert, key }: ExtensionOptions['cluster']): Promise<FrontProxy> {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const [response]: IncomingMessage[] = await once(
    request(new URL(path, url), { ca, cert, key, agent: false }).end(),
    'response',
  )
  const { data } = JSON.parse(Buffer.concat(await response!.toArray()).toString()) as { data: Record<string, string> }
  const first = (name: string): string => (JSON.parse(data[name]!) as string[])[0]!.toLowerCase()
  return {
    ca: data['requestheader-client-ca-file']!,
    names: JSON.parse(data['requestheader-allowed-names']!) as string[],
    user: first('requestheader-username-headers'),
    group: first('requestheader-group-headers'),
    uid: first('requestheader-uid-headers'),
    extra: first('requestheader-extra-headers-prefix'),
  }
}

function answer(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

const failure = (code: number, reason: string, message: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
})

const notFound = (name: string): object => failure(404, 'NotFound', `apples.orchard.example.com "${name}" not found`)

const listPath = /^\/apis\/orchard\.example\.com\/v1(?:\/namespaces\/([^/]+))?\/apples$/
const itemPath = /^\/apis\/orchard\.example\.com\/v1\/namespaces\/([^/]+)\/apples\/([^/]+)(?:\/([^/]+))?$/

/** The collection or the apple of a path. */
interface Target {
  readonly isCollection: boolean
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
}

function targetOf(pathname: string): Target {
  const list = listPath.exec(pathname)
  const [, namespace, name, subresource] = list ?? itemPath.exec(pathname) ?? []
  return { isCollection: list !== null, namespace, name, subresource }
}

/** The API of apples. Only the front proxy may use it, on behalf of users. */
class Orchard {
  readonly #proxy: FrontProxy
  readonly #aggregatedDiscovery: boolean
  readonly #apples = new Apples()

  constructor(proxy: FrontProxy, aggregatedDiscovery: boolean) {
    this.#proxy = proxy
    this.#aggregatedDiscovery = aggregatedDiscovery
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(message.url ?? '/', 'https://orchard')
    if (!this.#isFromFrontProxy(message))
      return answer(response, 401, failure(401, 'Unauthorized', 'not from the front proxy'))
    if (this.#answerDocument(message, response, pathname)) return
    const target = targetOf(pathname)
    if (message.method === 'GET' && searchParams.get('watch'))
      return this.#watch(response, target.namespace, Number(searchParams.get('resourceVersion') ?? 0))
    if (target.subresource === 'echo') {
      // Answers as it reads: neither side waits for the other's end.
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      message.pipe(response)
      return
    }
    if (target.subresource === 'who') return answer(response, 200, this.#userOf(message))
    const body = Buffer.concat(await message.toArray()).toString()
    if (target.isCollection) this.#answerCollection(message.method, response, target, body)
    else this.#answerApple(message.method, response, target, body)
  }

  /** Accepts an upgrade, and echoes what the client sends. */
  upgrade(message: IncomingMessage, socket: Duplex): void {
    socket.on('error', () => socket.destroy())
    if (!this.#isFromFrontProxy(message)) socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n')
    else if (message.url?.endsWith('/refuse'))
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!')
    else {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${message.headers.upgrade}\r\nX-User: ` +
          `${message.headers[this.#proxy.user]}\r\n\r\n`,
      )
      socket.pipe(socket)
    }
  }

  #isFromFrontProxy({ socket, headers }: IncomingMessage): boolean {
    const tls = socket as TLSSocket
    const { subject } = tls.getPeerCertificate()
    return tls.authorized && this.#proxy.names.includes(String(subject?.CN)) && headers[this.#proxy.user] !== undefined
  }

  /** Returns the user according to the front proxy, and all headers of the request. */
  #userOf({ headers, headersDistinct }: IncomingMessage): object {
    const { user, uid, group, extra } = this.#proxy
    return {
      user: headers[user],
      uid: headers[uid],
      groups: headersDistinct[group],
      extra: Object.fromEntries(Object.entries(headersDistinct).filter(([name]) => name.startsWith(extra))),
      headers,
    }
  }

  /** Answers requests for discovery and OpenAPI. Returns false for other paths. */
  #answerDocument(message: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (path === '/apis') {
      if (!this.#aggregatedDiscovery) answer(response, 406, failure(406, 'NotAcceptable', 'only the older form'))
      else if (message.headers['if-none-match'] === '"orchard"') response.writeHead(304).end()
      else
        answer(response, 200, aggregated, {
          'content-type': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
          etag: '"orchard"',
        })
    } else if (path === '/apis/orchard.example.com') answer(response, 200, groupDocument)
    else if (path === '/apis/orchard.example.com/v1') answer(response, 200, legacy)
    else if (path === '/openapi/v2') answer(response, 200, openapiV2, { etag: '"v2"' })
    else if (path === '/openapi/v3') answer(response, 200, v3Index)
    else if (path === '/openapi/v3/apis/orchard.example.com/v1') answer(response, 200, openapiV3)
    else return false
    return true
  }

  #watch(response: ServerResponse, namespace: string | undefined, since: number): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const stop = this.#apples.watch(namespace, since, (type, object) =>
      response.write(`${JSON.stringify({ type, object })}\n`),
    )
    response.on('close', stop)
  }

  #answerCollection(method: string | undefined, response: ServerResponse, { namespace }: Target, body: string): void {
    if (method === 'GET') answer(response, 200, appleList(this.#apples.list(namespace), this.#apples.revision))
    else if (method === 'POST') answer(response, 201, this.#apples.put(namespace!, JSON.parse(body) as Apple))
    else answer(response, 404, notFound(''))
  }

  #answerApple(
    method: string | undefined,
    response: ServerResponse,
    { namespace = '', name = '' }: Target,
    body: string,
  ): void {
    const found = this.#apples.get(namespace, name)
    if (!found) answer(response, 404, notFound(name))
    else if (method === 'GET') answer(response, 200, found)
    else if (method === 'DELETE') answer(response, 200, this.#apples.delete(namespace, name))
    else if (method === 'PUT') answer(response, 200, this.#apples.put(namespace, JSON.parse(body) as Apple))
    else if (method === 'PATCH') {
      const patch = JSON.parse(body) as Partial<Apple>
      answer(response, 200, this.#apples.put(namespace, { ...found, ...patch, metadata: found.metadata }))
    } else answer(response, 405, failure(405, 'MethodNotAllowed', 'no such verb'))
  }
}

async function serve({ cluster, serving, aggregatedDiscovery, port }: ExtensionOptions): Promise<Server> {
  const proxy = await frontProxy(cluster)
  const orchard = new Orchard(proxy, aggregatedDiscovery)
  const server = createServer(
    { ...serving, ca: proxy.ca, requestCert: true, rejectUnauthorized: false },
    (message, response) => orchard.handle(message, response),
  )
  server.on('upgrade', (message, socket) => orchard.upgrade(message, socket))
  server.listen(port, '0.0.0.0')
  await once(server, 'listening')
  return server
}

process.once('message', (options: ExtensionOptions) => {
  serve(options).then(
    (server) => process.send?.({ port: (server.address() as AddressInfo).port }),
    (error) => {
      process.stderr.write(`${error.stack}\n`)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit())
