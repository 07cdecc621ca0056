import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { request } from 'node:https'
import test from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import type { TestCluster } from '../support/test-cluster.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { backend, needsAddress, pod, podAddress, serviceOf } from './backend.ts'

const base = '/api/v1/namespaces/default'

interface RequestOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

async function ask({ client }: TestCluster, path: string, { method, headers, body }: RequestOptions = {}) {
  const { ca, cert, key, url } = client
  const sent = request(new URL(path, url), { ca, cert, key, agent: false, method, headers })
  const [response]: IncomingMessage[] = await once(sent.end(body), 'response')
  const bytes = Buffer.concat(await response!.toArray())
  const text = bytes.toString()
  return {
    status: response!.statusCode,
    headers: response!.headers,
    bytes,
    text,
    message: () => (JSON.parse(text) as { message: string }).message,
  }
}

test('missing targets of proxy subresources have upstream’s error messages', async (t) => {
  const cluster = await testCluster(t)
  const refused = async (path: string) => {
    const { status, message } = await ask(cluster, path)
    return [status, message()]
  }
  assert.deepEqual(await refused(`${base}/pods/none/proxy/`), [404, 'pods "none" not found'])
  assert.deepEqual(await refused(`${base}/services/none:80/proxy/`), [404, 'services "none" not found'])
  assert.deepEqual(await refused(`${base}/services/none/proxy/`), [404, 'endpoints "none" not found'])
  assert.deepEqual(await refused('/api/v1/nodes/none/proxy/'), [404, 'nodes "none" not found'])
  assert.deepEqual(await refused(`${base}/services/a:b:c/proxy/`), [400, 'invalid service request "a:b:c"'])

  await cluster.call('POST', `${base}/services`, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80 }] },
  })
  assert.deepEqual(await refused(`${base}/services/web:81/proxy/`), [503, 'no service port 81 found for service "web"'])
  await cluster.call('POST', `${base}/endpoints`, { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web' } })
  assert.deepEqual(await refused(`${base}/services/web:80/proxy/`), [503, 'no endpoints available for service "web"'])

  await cluster.call('POST', `${base}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'waiting' },
    spec: { containers: [{ name: 'main', image: 'main' }] },
  })
  assert.deepEqual(await refused(`${base}/pods/waiting/proxy/`), [400, 'address not allowed'])
  await pod(cluster, 'evil', 80, '169.254.169.254')
  assert.deepEqual(await refused(`${base}/pods/evil/proxy/`), [400, 'address not allowed'])
  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } })
  assert.deepEqual(await refused('/api/v1/nodes/one/proxy/'), [
    500,
    'no preferred addresses found; known addresses: []',
  ])
})

test(
  'a pod is reached at its first port, at a port by number, and over TLS, with the request unchanged',
  needsAddress,
  async (t) => {
    const cluster = await testCluster(t)
    const { port } = await backend(t, async (message, response) => {
      const body = Buffer.concat(await message.toArray()).toString()
      response.writeHead(message.method === 'DELETE' ? 410 : 200, {
        'content-type': 'text/x-test',
        'access-control-allow-origin': '*',
      })
      response.end(JSON.stringify({ method: message.method, url: message.url, body, headers: message.headers }))
    })
    const secure = await backend(t, (_message, response) => response.end('secret'), { secure: true })
    await pod(cluster, 'web', port)
    const got = await ask(cluster, `${base}/pods/web/proxy/a%2Fb/c/?x=1&y=%20`)
    assert.equal(got.headers['content-type'], 'text/x-test')
    assert.equal(got.headers['access-control-allow-origin'], undefined)
    const seen = JSON.parse(got.text)
    assert.equal(seen.url, '/a%2Fb/c/?x=1&y=%20')
    assert.equal(seen.headers.host, new URL(cluster.client.url).host)
    assert.equal(seen.headers['x-forwarded-uri'], `${base}/pods/web/proxy/a%2Fb/c/`)
    assert.equal((JSON.parse((await ask(cluster, `${base}/pods/web:${port}/proxy/`)).text) as { url: string }).url, '/')
    const posted = JSON.parse(
      (
        await ask(cluster, `${base}/pods/http:web:${port}/proxy/form`, {
          method: 'POST',
          body: 'hello',
          headers: { authorization: 'Basic x' },
        })
      ).text,
    )
    assert.deepEqual([posted.method, posted.body, posted.headers.authorization], ['POST', 'hello', undefined])
    assert.equal((await ask(cluster, `${base}/pods/web/proxy/x`, { method: 'DELETE' })).status, 410)
    assert.equal((await ask(cluster, `${base}/pods/https:web:${secure.port}/proxy/`)).text, 'secret')
    assert.equal((await ask(cluster, `${base}/pods/web/proxy/x`, { method: 'HEAD' })).text, '')
  },
)

test(
  'a path without a slash is redirected, and redirects of a pod to itself stay behind the proxy',
  needsAddress,
  async (t) => {
    const cluster = await testCluster(t)
    const { port } = await backend(t, (message, response) =>
      response.writeHead(302, { location: message.url === '/out' ? 'https://example.com/x' : '/next?a=b' }).end(),
    )
    await pod(cluster, 'web', port)
    const root = await ask(cluster, `${base}/pods/web/proxy?x=1`)
    assert.deepEqual([root.status, root.headers.location], [301, `${base}/pods/web/proxy/?x=1`])
    assert.equal(
      (await ask(cluster, `${base}/pods/web/proxy/here`)).headers.location,
      `${base}/pods/web/proxy/next?a=b`,
    )
    assert.equal((await ask(cluster, `${base}/pods/web/proxy/out`)).headers.location, 'https://example.com/x')
  },
)

const page = Buffer.concat([
  Buffer.from('<!DOCTYPE html><!-- <a href="/kept"> --><A Class=x HREF = "/a&amp;b">é '),
  Buffer.from([0xff, 0x0d, 0x0a]),
  Buffer.from('<img src=/x.png><script src=\'app.js\'>"<a href=/kept>"</script><a href="//example.com/">'),
])

test(
  'the links of a page stay behind the proxy, compressed or not, and all else is unchanged',
  needsAddress,
  async (t) => {
    const cluster = await testCluster(t)
    const { port } = await backend(t, (message, response) => {
      const coding = message.url!.slice(1)
      const headers = { 'content-type': 'text/html; charset=utf-8', ...(coding && { 'content-encoding': coding }) }
      response.writeHead(200, headers).end(coding === 'gzip' ? gzipSync(page) : page)
    })
    await pod(cluster, 'web', port)
    const proxy = `${base}/pods/web/proxy`
    const expected = page.toString('latin1').replace('"/a&', `"${proxy}/a&`).replace('/x.png', `${proxy}/x.png`)
    assert.equal((await ask(cluster, `${proxy}/`)).bytes.toString('latin1'), expected)
    assert.equal(gunzipSync((await ask(cluster, `${proxy}/gzip`)).bytes).toString('latin1'), expected)
    assert.deepEqual((await ask(cluster, `${proxy}/unknown`)).bytes, page)
  },
)

test('a page that holds back a tag of many megabytes is cut off', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  const { port } = await backend(t, (_message, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).write('<!--')
    const write = (): void => void (response.destroyed || response.write(Buffer.alloc(1 << 20, 97), write))
    write()
  })
  await pod(cluster, 'web', port)
  await assert.rejects(ask(cluster, `${base}/pods/web/proxy/`), { code: 'ECONNRESET' })
})

test('kubectl get --raw reaches a Service by the number and by the name of its port', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  const { port } = await backend(t, (message, response) => response.end(`served ${message.url}`))
  await pod(cluster, 'web-0', port)
  await serviceOf(cluster, 'web', 'web-0', port)
  const kubectl = new Kubectl(installedKubectls().at(-1)!, cluster.kubeconfigFile, cluster.folder)
  await kubectl.ok(`get --raw ${base}/services/web:80/proxy/hello`, 'served /hello')
  await kubectl.ok(`get --raw ${base}/services/http:web:http/proxy/there?a=b`, 'served /there?a=b')
})

test('a Service whose endpoints are no pods of its namespace is not connected to', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  const { port } = await backend(t, (_message, response) => response.end('never'))
  await serviceOf(cluster, 'web', undefined, port)
  const { status, message } = await ask(cluster, `${base}/services/web:80/proxy/`)
  assert.deepEqual([status, message()], [503, 'no endpoints available for service "web:80"'])
})

test('a node is reached at the requested port', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  const { port } = await backend(t, (message, response) => response.end(`node ${message.url}`))
  await cluster.call('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } })
  const status = { addresses: [{ type: 'InternalIP', address: podAddress }] }
  await cluster.call('PATCH', '/api/v1/nodes/one/status', { status }, 'application/merge-patch+json')
  assert.equal((await ask(cluster, `/api/v1/nodes/http:one:${port}/proxy/stats`)).text, 'node /stats')
})

test('a pod that does not respond is 503 with the reason', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  await pod(cluster, 'web', 1)
  const { status, message } = await ask(cluster, `${base}/pods/web/proxy/`)
  assert.deepEqual(
    [status, message()],
    [503, `error trying to reach service: dial tcp ${podAddress}:1: connect: connection refused`],
  )
})

test(
  'a response is streamed, over HTTP/2 too, and its pod’s connection closes when the client disconnects',
  needsAddress,
  async (t) => {
    const cluster = await testCluster(t)
    let closed = false
    const { port } = await backend(t, (_message, response) => {
      response.write('one')
      response.on('close', () => {
        closed = true
      })
    })
    await pod(cluster, 'web', port)
    const { ca, cert, key, url } = cluster.client
    const session = connect(url, { ca, cert, key })
    t.after(() => session.destroy())
    const stream = session.request({ ':path': `${base}/pods/web/proxy/` })
    const [piece] = await once(stream, 'data')
    assert.equal(String(piece), 'one')
    stream.close()
    await waitFor('the connection of the pod to close', () => closed)
  },
)

test('a client that does not read pauses the pod: nothing is buffered for it', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  let written = 0
  let waits = false
  const { port } = await backend(t, (_message, response) => {
    const piece = Buffer.alloc(64 * 1024)
    const write = (): void => {
      waits = false
      while (written < 512 * 1024 * 1024) {
        written += piece.length
        if (!response.write(piece)) {
          waits = true
          response.once('drain', write)
          return
        }
      }
    }
    write()
  })
  await pod(cluster, 'web', port)
  const { ca, cert, key, url } = cluster.client
  const sent = request(new URL(`${base}/pods/web/proxy/`, url), { ca, cert, key, agent: false }).end()
  const [response]: IncomingMessage[] = await once(sent, 'response')
  t.after(() => response!.destroy())
  let before = -1
  await waitFor(
    'the pod to wait',
    () => {
      const still = waits && written === before
      before = written
      return still
    },
    { everyMs: 200 },
  )
  assert.ok(written < 64 * 1024 * 1024, `${written} bytes were written`)
})

test('a WebSocket through a pod proxy reaches the pod, without the token in its protocols', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  const { server, port } = await backend(t, (_message, response) => response.writeHead(200).end())
  server.on('upgrade', (message, socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Protocols: ' +
        `${message.headers['sec-websocket-protocol']}\r\n\r\nwelcome`,
    )
    socket.pipe(socket)
  })
  await pod(cluster, 'web', port)
  const { ca, cert, key, url } = cluster.client
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-protocol': 'chat, base64url.bearer.authorization.k8s.io.c2VjcmV0',
  }
  const [response, socket, head] = await once(
    request(new URL(`${base}/pods/web/proxy/ws`, url), { ca, cert, key, agent: false, headers }).end(),
    'upgrade',
  )
  assert.equal(response.headers['x-protocols'], 'chat')
  let seen = String(head)
  socket.on('data', (data: Buffer) => {
    seen += data
  })
  socket.write('hello')
  await waitFor('both texts', () => seen === 'welcomehello')
  const closed = once(socket, 'close')
  socket.destroy()
  await closed
})

test('a pod that rejects an upgrade gives an error of its own', needsAddress, async (t) => {
  const cluster = await testCluster(t)
  const { port } = await backend(t, (_message, response) => response.end('plain'))
  await pod(cluster, 'web', port)
  const { status, message } = await ask(cluster, `${base}/pods/web/proxy/`, {
    headers: { connection: 'Upgrade', upgrade: 'websocket' },
  })
  assert.deepEqual([status, message()], [500, 'invalid upgrade response: status code 200'])
})
