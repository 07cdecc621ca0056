/**
 * A server of an aggregated API, for tests: the group orchard.example.com with Apples, in memory. It is a process of
 * its own, knows the front proxy and its headers from the ConfigMap alone, and shares no code with the server that it
 * stands behind.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
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

const listPath = /^\/apis\/orchard\.example\.com\/v1(?:\/namespaces\/([^/]+))?\/apples$/
const itemPath = /^\/apis\/orchard\.example\.com\/v1\/namespaces\/([^/]+)\/apples\/([^/]+)(?:\/([^/]+))?$/

async function serve({ cluster, serving, aggregatedDiscovery, port }: ExtensionOptions): Promise<Server> {
  const proxy = await frontProxy(cluster)
  const apples = new Apples()

  const mayAsk = (message: IncomingMessage): boolean => {
    const socket = message.socket as TLSSocket
    const { subject } = socket.getPeerCertificate()
    return socket.authorized && proxy.names.includes(String(subject?.CN)) && message.headers[proxy.user] !== undefined
  }

  /** Returns the user according to the front proxy, and all headers of the request. */
  const userOf = (message: IncomingMessage): object => ({
    user: message.headers[proxy.user],
    uid: message.headers[proxy.uid],
    groups: message.headersDistinct[proxy.group],
    extra: Object.fromEntries(Object.entries(message.headersDistinct).filter(([name]) => name.startsWith(proxy.extra))),
    headers: message.headers,
  })

  function documents(message: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (path === '/apis') {
      if (!aggregatedDiscovery) answer(response, 406, failure(406, 'NotAcceptable', 'only the older form'))
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

  function watch(response: ServerResponse, namespace: string | undefined, since: number): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const forget = apples.watch(namespace, since, (type, object) =>
      response.write(`${JSON.stringify({ type, object })}\n`),
    )
    response.on('close', forget)
  }

  const server = createServer(
    { ...serving, ca: proxy.ca, requestCert: true, rejectUnauthorized: false },
    async (message, response) => {
      const { pathname, searchParams } = new URL(message.url ?? '/', 'https://orchard')
      if (!mayAsk(message)) return answer(response, 401, failure(401, 'Unauthorized', 'not from the front proxy'))
      if (documents(message, response, pathname)) return
      const list = listPath.exec(pathname)
      const item = itemPath.exec(pathname)
      const [, namespace, name = '', subresource] = item ?? list ?? []
      if (message.method === 'GET' && searchParams.get('watch'))
        return watch(response, namespace, Number(searchParams.get('resourceVersion') ?? 0))
      if (subresource === 'echo') {
        // Answers as it reads: neither side waits for the other's end.
        response.writeHead(200, { 'content-type': 'application/octet-stream' })
        message.pipe(response)
        return
      }
      if (subresource === 'who') return answer(response, 200, userOf(message))
      const body = Buffer.concat(await message.toArray()).toString()
      if (list && message.method === 'GET')
        return answer(response, 200, appleList(apples.list(namespace), apples.revision))
      if (list && message.method === 'POST')
        return answer(response, 201, apples.put(namespace!, JSON.parse(body) as Apple))
      const found = item && apples.get(namespace!, name)
      if (!found)
        return answer(response, 404, failure(404, 'NotFound', `apples.orchard.example.com "${name}" not found`))
      if (message.method === 'GET') return answer(response, 200, found)
      if (message.method === 'DELETE') return answer(response, 200, apples.delete(namespace!, name))
      if (message.method === 'PUT') return answer(response, 200, apples.put(namespace!, JSON.parse(body) as Apple))
      if (message.method === 'PATCH')
        return answer(
          response,
          200,
          apples.put(namespace!, { ...found, ...(JSON.parse(body) as Partial<Apple>), metadata: found.metadata }),
        )
      answer(response, 405, failure(405, 'MethodNotAllowed', 'no such verb'))
    },
  )
  server.on('upgrade', (message, socket) => {
    socket.on('error', () => socket.destroy())
    if (!mayAsk(message)) return socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n')
    if (message.url?.endsWith('/refuse'))
      return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${message.headers.upgrade}\r\nX-User: ` +
        `${message.headers[proxy.user]}\r\n\r\n`,
    )
    socket.pipe(socket)
  })
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
