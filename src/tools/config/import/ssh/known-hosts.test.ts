import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, keyType, knownHostLine, knownHostName, linesFor, parseKnownHosts } from './known-hosts.ts'

const key = (type: string, content = 'x'): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  return Buffer.concat([length, Buffer.from(type + content)])
}
const line = (names: string, blob: Buffer): string => `${names} ${keyType(blob)} ${blob.toString('base64')}`
const verdict = (text: string, name: string, blob: Buffer): string =>
  judge(linesFor(parseKnownHosts(text, 'FILE'), name), blob).is

const ed25519 = key('ssh-ed25519')

test('a host matches by name, port, pattern and hash', () => {
  assert.equal(verdict(line('node', ed25519), 'node', ed25519), 'known')
  assert.equal(verdict(line('other,Node,third', ed25519), 'node', ed25519), 'known')
  assert.equal(verdict(line('node', ed25519), knownHostName('node', 2222), ed25519), 'unknown')
  assert.equal(verdict(line('[node]:2222', ed25519), knownHostName('NODE', 2222), ed25519), 'known')
  assert.equal(verdict(line('*.example.com,!bad.example.com', ed25519), 'good.example.com', ed25519), 'known')
  assert.equal(verdict(line('*.example.com,!bad.example.com', ed25519), 'bad.example.com', ed25519), 'unknown')
  assert.equal(verdict(line('10.0.0.?', ed25519), '10.0.0.7', ed25519), 'known')
  const hashed = knownHostLine('node', ed25519, true)
  assert.match(hashed, /^\|1\|/)
  assert.equal(verdict(hashed, 'node', ed25519), 'known')
  assert.equal(verdict(hashed, 'node2', ed25519), 'unknown')
  assert.equal(verdict(knownHostLine('node', ed25519, false), 'node', ed25519), 'known')
})

test('another key of any type is a change; a revoked key is rejected', () => {
  assert.equal(verdict(line('node', ed25519), 'node', key('ssh-ed25519', 'y')), 'changed')
  assert.equal(verdict(line('node', ed25519), 'node', key('ssh-rsa')), 'changed')
  assert.equal(verdict(`${line('node', ed25519)}\n${line('node', key('ssh-rsa'))}`, 'node', key('ssh-rsa')), 'known')
  assert.equal(verdict(`${line('node', ed25519)}\n@revoked ${line('*', ed25519)}`, 'node', ed25519), 'revoked')
})

test('the verdict contains a certificate authority; invalid lines are ignored', () => {
  const found = judge(
    linesFor(parseKnownHosts(`# no\n\nbroken line\n@cert-authority ${line('*.com', ed25519)}`, 'FILE'), 'a.com'),
    ed25519,
  )
  assert.deepEqual([found.is, found.is === 'unknown' && found.authority?.line], ['unknown', 4])
})

test('matching takes time proportional to pattern length times name length', () => {
  const started = performance.now()
  assert.equal(verdict(line('*a'.repeat(200), ed25519), 'a'.repeat(150), ed25519), 'unknown')
  assert.ok(performance.now() - started < 5000)
})
