import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { boundsOf } from '../bounds/index.ts'
import { type Handler, text } from '../exchange.ts'
import { http1Server } from './server.ts'

/** A server, and a client that sends requests over persistent connections. */
async function serve(t: TestContext, handler: Handler) {
  const answering = http1Server(handler, boundsOf())
  let connections = 0
  const listener = createServer((socket) => {
    connections++
    answering.emit('connection', socket)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => {
    agent.destroy()
    answering.closeAllConnections()
    listener.close()
  })
  const { port } = listener.address() as AddressInfo
  const ask = (method: string, body?: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const asking = request({ port, host: '127.0.0.1', agent, method }, (response) => {
        response.resume()
        response.on('end', () => resolve(response))
      })
      asking.on('error', reject)
      asking.end(body)
    })
  return { ask, connections: () => connections }
}

test('connections survive immediate responses, unread bodies and thrown errors', async (t) => {
  const { ask, connections } = await serve(t, ({ method }) => {
    if (method === 'DELETE') throw new Error('no')
    return text(200, 'ok')
  })
  for (const [method, body] of [['GET'], ['GET'], ['POST', 'a body that nobody reads'], ['DELETE'], ['GET']] as const) {
    const response = await ask(method, body)
    assert.equal(response.statusCode, method === 'DELETE' ? 500 : 200)
    assert.notEqual(response.headers.connection, 'close', method)
  }
  assert.equal(connections(), 1)
})
