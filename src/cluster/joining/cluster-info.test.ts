import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAuthority } from '../../lib/x509/certificates.ts'
import { caHash, checkPin } from './ca-hash.ts'
import { placeIn, placeText } from './cluster-info.ts'
import { joinCommand } from './join-command.ts'

const token = { id: 'abcdef', secret: '0123456789abcdef' }

test('the place of a cluster survives its kubeconfig, and other texts have none', () => {
  const place = { url: 'https://192.0.2.1:6443', ca: 'pem' }
  assert.deepEqual(placeIn(placeText(place)), place)
  for (const text of ['', 'clusters: []', '[]', 'clusters: [{cluster: {server: a}}]'])
    assert.equal(placeIn(text), undefined)
})

test('the command to join pins the authority by the hash of its public key', async () => {
  const { cert } = await makeAuthority('kubernetes', new Date())
  const pin = caHash(cert)
  assert.equal(checkPin(pin.toUpperCase()), pin)
  assert.equal(
    joinCommand({ url: 'https://192.0.2.1:6443', ca: cert }, token),
    `t8s join https://192.0.2.1:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash ${pin}`,
  )
  assert.throws(() => checkPin('sha256:abc'), /is not a hash of the form/)
})
