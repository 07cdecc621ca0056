import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ipsecConfig } from './ipsec-config.ts'

const PSK = 'f'.repeat(96)

test('fields have upstream’s defaults, and names in any case', () => {
  const espProposal = 'aes128gcm16-sha256-prfsha256-ecp256'
  assert.deepEqual(ipsecConfig({ PSK }), { udpEncap: false, espProposal, presharedKey: PSK })
  assert.deepEqual(ipsecConfig({ psk: PSK, udpencap: true, espProposal: 'aes256-sha256' }), {
    ...{ udpEncap: true, espProposal: 'aes256-sha256', presharedKey: PSK },
  })
})

test('a secret that is missing, short or no text is a sentence without the secret', () => {
  assert.throws(() => ipsecConfig({}), /^Error: PSK is missing: .*openssl rand -hex 48/)
  assert.throws(() => ipsecConfig({ PSK: 4711 }), /^Error: PSK must be a text: openssl rand -hex 48 prints one$/)
  assert.throws(
    () => ipsecConfig({ PSK: 'hidden'.repeat(15) }),
    (error: Error) =>
      /PSK has 90 characters, and needs at least 96/.test(error.message) && !/hidden/.test(error.message),
  )
})
