import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { issueCertificate, makeAuthority } from '../../cluster/pki/certificates.ts'
import type { Request } from '../http/exchange.ts'
import { defaultHeaders, requestHeader } from './request-header.ts'

const authority = await makeAuthority('proxies', new Date())

/** A request with a certificate, and a user in its headers; nobody unless said. */
async function asked(commonName: string | undefined, user?: string, from = authority): Promise<Request> {
  const pair = commonName !== undefined && (await issueCertificate(from, { commonName, usage: 'client' }, new Date()))
  const certificate = pair && { ...new X509Certificate(pair.cert).toLegacyObject(), issuerCertificate: undefined }
  const request: Partial<Record<keyof Request, unknown>> = {
    clientCertificate: () => certificate && { certificate, authorized: true },
    headerValues: (name: string) => (user !== undefined && name === 'x-remote-user' ? [user] : []),
    headerNames: () => [],
  }
  return request as unknown as Request
}

test('whose certificate makes no front proxy is refused, not taken for one who showed none', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: authority.cert, allowedNames: ['proxy'] })
  assert.deepEqual(verdict(await asked('proxy', 'anna')), { name: 'anna', groups: ['system:authenticated'] })
  assert.equal(verdict(await asked('proxy')), undefined)
  assert.equal(verdict(await asked(undefined, 'anna')), undefined)
  assert.equal(verdict(await asked('somebody', 'anna')), 'invalid')
  assert.equal(verdict(await asked('somebody')), 'invalid')
  assert.equal(verdict(await asked('proxy', 'anna', await makeAuthority('proxies', new Date()))), 'invalid')
})

test('without names that are allowed, all are', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: authority.cert, allowedNames: [] })
  assert.deepEqual(verdict(await asked('somebody', 'anna')), { name: 'anna', groups: ['system:authenticated'] })
})

test('where there is no authority yet, certificates say nothing', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: () => '', allowedNames: [] })
  assert.equal(verdict(await asked('proxy', 'anna')), undefined)
})
