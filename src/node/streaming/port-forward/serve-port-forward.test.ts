import assert from 'node:assert/strict'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { stalled } from '../testing/stalled.fixture.ts'
import { connectSpdy, connectWebSocket, rejectedUpgrade, startStreamServer } from '../testing/stream-server.fixture.ts'

const version = 'portforward.k8s.io'

test('each connection over SPDY has a stream for data and one for an error', async (t) => {
  const port = await startStreamServer(t, {
    async portForward(_pod, target, connection) {
      if (target === 81) throw new Error('connection refused')
      await pipeline(connection, connection)
    },
  })
  const client = await connectSpdy(t, port, '/portForward', version)
  const open = async (target: number, requestid: string) => {
    const headers = { port: `${target}`, requestid }
    const error = await client.open({ streamtype: 'error', ...headers })
    error.end()
    return { error, data: await client.open({ streamtype: 'data', ...headers }) }
  }
  const echo = await open(80, '0')
  void echo.data.write('hello')
  echo.data.end()
  assert.equal(await echo.data.text(), 'hello')
  assert.equal(await echo.error.text(), '')
  const refused = await open(81, '1')
  assert.equal(await refused.error.text(), 'error forwarding port 81 to pod web_default, uid u: connection refused')
  const invalid = await client.open({ streamtype: 'data', port: '0', requestid: '2' })
  assert.equal(await invalid.ended.promise, true, 'it is reset')
  client.close()
  await once(client.socket, 'close')
})

test('2,000 streams over one connection, one after another and at the same time', { timeout: 60_000 }, async (t) => {
  const port = await startStreamServer(t, {
    portForward: (_pod, _port, connection) => pipeline(connection, connection),
  })
  const client = await connectSpdy(t, port, '/portForward', version)
  const sequential = 1_500
  const parallel = 2_000
  const connections = []
  for (let i = 0; i < sequential + parallel; i++) {
    const headers = { port: '80', requestid: `${i}` }
    const error = await client.open({ streamtype: 'error', ...headers })
    error.end()
    const data = await client.open({ streamtype: 'data', ...headers })
    void data.write(`${i}`)
    if (i >= sequential) connections.push(data)
    else {
      data.end()
      if (i % 100 === 0) assert.equal(await data.text(), `${i}`)
    }
  }
  for (const data of connections) data.end()
  const texts = await Promise.all(connections.map((data) => data.text()))
  assert.deepEqual(
    texts,
    connections.map((_, i) => `${sequential + i}`),
  )
  assert.equal(await stalled(() => client.replies), 2 * (sequential + parallel))
})

test('over a WebSocket the query names the ports, and channels begin with them', async (t) => {
  const port = await startStreamServer(t, {
    async portForward(_pod, target, connection) {
      if (target === 81) throw new Error('connection refused')
      const [data] = await once(connection, 'data')
      connection.write(`${target} ${data}`)
    },
  })
  for (const protocol of [undefined, 'v4.channel.k8s.io']) {
    const { socket, messages } = await connectWebSocket(t, port, '/portForward?port=80,81&port=82', protocol)
    socket.send('\0a')
    socket.send('\u0004b')
    await once(socket, 'close')
    const channel = (number: number): string =>
      Buffer.concat(messages.filter((one) => one[0] === number).map((one) => one.subarray(1))).toString('latin1')
    assert.deepEqual([0, 1, 2, 3, 4, 5].map(channel), [
      'P\u000080 a',
      'P\0',
      'Q\0',
      'Q\0error forwarding port 81 to pod web_default, uid u: connection refused',
      'R\u000082 b',
      'R\0',
    ])
  }
  const headers = { upgrade: 'websocket' }
  assert.equal(await rejectedUpgrade(port, '/portForward', headers), '400 query parameter "port" is required')
  assert.equal(
    await rejectedUpgrade(port, '/portForward?port=http', headers),
    '400 unable to parse "http" as a port: strconv.ParseUint: parsing "http": invalid syntax',
  )
})
