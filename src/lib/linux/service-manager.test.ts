import assert from 'node:assert/strict'
import { test } from 'node:test'
import { notifyReady } from './service-manager.ts'

/** Returns the addresses and messages of a notification. */
function sent(environment: Readonly<Record<string, string>>): string[] {
  const parts: string[] = []
  const add = (part: Uint8Array): number => parts.push(Buffer.from(part).toString('latin1'))
  const close = (fd: number): number => parts.push(`close ${fd}`)
  notifyReady(
    { socket: () => 7, connect: (_, address) => add(address), send: (_, message) => add(message), close },
    environment,
  )
  return parts
}

test('a service manager is notified at its socket', () => {
  assert.deepEqual(sent({ NOTIFY_SOCKET: '/run/systemd/notify' }), [
    '\x01\0/run/systemd/notify\0',
    'READY=1',
    'close 7',
  ])
  assert.deepEqual(sent({ NOTIFY_SOCKET: '@here' })[0], '\x01\0\0here')
  assert.deepEqual(sent({}), [])
})
