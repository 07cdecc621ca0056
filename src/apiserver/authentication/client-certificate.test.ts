import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { issueCertificate, makeAuthority } from '../../cluster/pki/certificates.ts'
import type { Request } from '../http/exchange.ts'
import { clientCertificate } from './client-certificate.ts'

const authority = await makeAuthority('users', new Date())

async function asked(commonName: string, from = authority): Promise<Request> {
  const pair = await issueCertificate(from, { commonName, organizations: ['dev'], usage: 'client' }, new Date())
  const certificate = { ...new X509Certificate(pair.cert).toLegacyObject(), issuerCertificate: undefined }
  const request: Partial<Record<keyof Request, unknown>> = { clientCertificate: () => ({ certificate, authorized: true }) }
  return request as unknown as Request
}

test('a certificate without a name is as good as none, if it holds', async () => {
  const verdict = clientCertificate(authority.cert)
  assert.deepEqual(verdict(await asked('')), undefined)
  assert.deepEqual(verdict(await asked('', await makeAuthority('users', new Date()))), 'invalid')
})

test('where there is no authority yet, certificates say nothing', async () => {
  let bundle = ''
  const verdict = clientCertificate(() => bundle)
  const anna = await asked('anna')
  assert.equal(verdict(anna), undefined)
  bundle = authority.cert
  const user = verdict(anna)
  assert.equal(typeof user === 'object' && 'name' in user && user.name, 'anna')
})

test('of every certificate is told how long it holds, also of those that are refused', async () => {
  const told: number[] = []
  const verdict = clientCertificate(authority.cert, (seconds) => void told.push(seconds))
  assert.equal(verdict(await asked('anna', await makeAuthority('users', new Date()))), 'invalid')
  assert.equal(told.length, 1)
  assert.ok(told[0]! > 3600)
})
