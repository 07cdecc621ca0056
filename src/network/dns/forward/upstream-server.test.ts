import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askServer } from './upstream-server.ts'

test('a server to which the machine has no way is an error immediately', async () => {
  // Sockets without SO_BROADCAST cannot connect to this address, with any network.
  const server = { address: '255.255.255.255', port: 53 }
  await assert.rejects(askServer(server, Buffer.alloc(17), 30_000), /connect EACCES 255\.255\.255\.255:53/)
})
