import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { refuseUpgrade } from './refuse-upgrade.ts'

test('a response that switches protocols is an error, and the connection is closed', async (t) => {
  const server = createServer((socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: odd\r\nConnection: Upgrade\r\n\r\n'),
    ),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const accepted = once(server, 'connection')
  const sent = refuseUpgrade(request({ port: (server.address() as AddressInfo).port }))
  sent.end()
  const [error] = (await once(sent, 'error').catch((failure: Error) => [failure])) as [Error]
  assert.equal(error.message, 'the server switched to the protocol "odd" without a request')
  const [socket] = await accepted
  socket.on('error', () => {})
  await once(socket, 'close')
})
