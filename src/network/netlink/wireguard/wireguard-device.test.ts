import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeAttributes } from '../message.ts'
import { decodeState, encodeChange } from './device-messages.ts'
import { parseKey, privateKeyFrom, publicKeyOf } from './keys.ts'
import { decodeState as decodeLines, encodeChange as encodeText } from './user-space-device.ts'
import type { WireguardPeer } from './wireguard-device.ts'

const key = (byte: number): Buffer => Buffer.alloc(32, byte)
const peers: readonly WireguardPeer[] = [
  {
    publicKey: key(1),
    endpoint: { address: '192.168.33.102', port: 51_820 },
    keepaliveSeconds: 25,
    allowedIPs: ['10.244.2.0/24', 'fd10:244:0:2::/64'],
  },
  { publicKey: key(2), endpoint: { address: 'fd33::103', port: 51_821 }, keepaliveSeconds: 0, allowedIPs: [] },
]

test('a private key has the fixed bits of Curve25519', () => {
  const made = privateKeyFrom(key(0xff))
  assert.deepEqual([made[0], made[31]], [0xf8, 0x7f])
  // As wg pubkey prints it.
  assert.equal(publicKeyOf(made).toString('base64'), 'hHwNLDdSNPNl5mCVUYejc1oPdhPRYJ06ak2MU66qWiI=')
})

test('keys are 32 bytes in base64', () => {
  assert.deepEqual(parseKey(`${key(7).toString('base64')}\n`), key(7))
  for (const text of ['', 'abc', Buffer.alloc(31).toString('base64'), 'x'.repeat(44)])
    assert.equal(parseKey(text), undefined)
})

test('peers are decoded from netlink as they were encoded', () => {
  const bytes = Buffer.concat(encodeChange('flannel-wg', { privateKey: key(9), listenPort: 51_820, peers }))
  const state = decodeState([decodeAttributes(bytes)])
  assert.equal(state.listenPort, 51_820)
  assert.deepEqual(state.peers, peers)
})

test('a peer whose ranges remain is set without them', () => {
  const change = { peers: [{ ...peers[0]!, allowedIPs: undefined }] }
  const [encoded] = decodeState([decodeAttributes(Buffer.concat(encodeChange('x', change)))]).peers
  assert.deepEqual(encoded, { ...peers[0]!, allowedIPs: [] })
  assert.doesNotMatch(Buffer.concat(encodeChange('x', change)).toString('hex'), /0800030002000000/)
  assert.match(Buffer.concat(encodeChange('x', { peers })).toString('hex'), /0800030002000000/)
  assert.doesNotMatch(encodeText(change), /allowed_ip/)
})

test('a peer that continues in another message has the ranges of both', () => {
  const parts = [['10.244.2.0/24'], ['10.244.3.0/24']].map((allowedIPs) =>
    decodeAttributes(Buffer.concat(encodeChange('x', { peers: [{ ...peers[0]!, allowedIPs }] }))),
  )
  assert.deepEqual(decodeState(parts).peers, [{ ...peers[0]!, allowedIPs: ['10.244.2.0/24', '10.244.3.0/24'] }])
})

test('a program gets the settings as text, and its answer is decoded', () => {
  const text = encodeText({ listenPort: 51_820, peers: [{ ...peers[0]!, presharedKey: key(3) }], removed: [key(2)] })
  assert.equal(
    text,
    `set=1\nlisten_port=51820\npublic_key=${'02'.repeat(32)}\nremove=true\npublic_key=${'01'.repeat(32)}\n` +
      `preshared_key=${'03'.repeat(32)}\nendpoint=192.168.33.102:51820\npersistent_keepalive_interval=25\n` +
      'replace_allowed_ips=true\nallowed_ip=10.244.2.0/24\nallowed_ip=fd10:244:0:2::/64\n\n',
  )
  const lines = encodeText({ listenPort: 51_820, peers })
    .trimEnd()
    .split('\n')
    .map((line) => line.split('=') as [string, string])
  assert.deepEqual(decodeLines(lines), { publicKey: undefined, listenPort: 51_820, peers })
})
