import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSshAddress, parseSshHost } from './ssh-address.ts'

test('addresses contain user, host, port and path', () => {
  assert.deepEqual(parseSshAddress('ssh://root@node:/etc/kubernetes/kubectl.kubeconfig'), {
    user: 'root',
    host: 'node',
    path: '/etc/kubernetes/kubectl.kubeconfig',
  })
  assert.deepEqual(parseSshAddress('ssh://node:2222/a%20b'), { host: 'node', port: 2222, path: '/a b' })
  assert.deepEqual(parseSshAddress('ssh://a.b%40c@[fd00::1]:22/x'), {
    user: 'a.b@c',
    host: 'fd00::1',
    port: 22,
    path: '/x',
  })
  assert.deepEqual(parseSshAddress('ssh://node/~/.kube/config'), { host: 'node', path: '.kube/config' })
  assert.deepEqual(parseSshHost('me@gate:22'), { user: 'me', host: 'gate', port: 22 })
})

test('invalid addresses are rejected with the reason', () => {
  for (const text of [
    'ssh://',
    'ssh:///x',
    'ssh://@node/x',
    'ssh://a:b:c/x',
    'ssh://-oProxyCommand=x/x',
    'ssh://node:port/x',
    'ssh://n%zz@node/x',
  ]) {
    assert.throws(() => parseSshAddress(text), /is not the address of a file: use ssh:\/\/USER@HOST:PORT\//, text)
  }
  for (const text of ['ssh://node', 'ssh://node/', 'ssh://node/etc/'])
    assert.throws(() => parseSshAddress(text), /has no file/)
  assert.throws(() => parseSshAddress('ssh://node:0/x'), /must be from 1 to 65535/)
  assert.throws(
    () => parseSshAddress('ssh://me:secret@node/x'),
    (error) => error instanceof Error && /contains a password/.test(error.message) && !error.message.includes('secret'),
  )
})
