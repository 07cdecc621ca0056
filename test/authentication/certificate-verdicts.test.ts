/** What authenticators make of certificates, without a server around them. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import test from 'node:test'
import { clientCertificate } from '../../src/apiserver/authentication/client-certificate.ts'
import { defaultHeaders, requestHeader } from '../../src/apiserver/authentication/request-header.ts'
import type { Request } from '../../src/apiserver/http/exchange.ts'
import { issueCertificate, makeAuthority } from '../../src/cluster/pki/certificates.ts'
import { opensslFolder } from './openssl.ts'

const authority = await makeAuthority('ours', new Date())

/** A request with a certificate if it has a name, and a user in its headers; nobody unless said. */
async function asked(commonName: string | undefined, user?: string, from = authority): Promise<Request> {
  const pair = commonName !== undefined && (await issueCertificate(from, { commonName, usage: 'client' }, new Date()))
  const certificate = pair && { ...new X509Certificate(pair.cert).toLegacyObject(), issuerCertificate: undefined }
  const request: Partial<Record<keyof Request, unknown>> = {
    clientCertificate: () => (certificate ? { certificate, authorized: true } : undefined),
    headerValues: (name: string) => (user !== undefined && name === 'x-remote-user' ? [user] : []),
    headerNames: () => [],
  }
  return request as unknown as Request
}

test('a certificate without a name is as good as none, if it holds', async () => {
  const verdict = clientCertificate(authority.cert)
  assert.deepEqual(verdict(await asked('')), undefined)
  assert.deepEqual(verdict(await asked('', undefined, await makeAuthority('ours', new Date()))), 'invalid')
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
  assert.equal(verdict(await asked('anna', undefined, await makeAuthority('ours', new Date()))), 'invalid')
  assert.equal(told.length, 1)
  assert.ok(told[0]! > 3600)
})

test('whose certificate makes no front proxy is refused, not taken for one who showed none', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: authority.cert, allowedNames: ['proxy'] })
  assert.deepEqual(verdict(await asked('proxy', 'anna')), { name: 'anna', groups: ['system:authenticated'] })
  assert.equal(verdict(await asked('proxy')), undefined)
  assert.equal(verdict(await asked(undefined, 'anna')), undefined)
  assert.equal(verdict(await asked('somebody', 'anna')), 'invalid')
  assert.equal(verdict(await asked('somebody')), 'invalid')
  assert.equal(verdict(await asked('proxy', 'anna', await makeAuthority('ours', new Date()))), 'invalid')
})

test('without names that are allowed, all are', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: authority.cert, allowedNames: [] })
  assert.deepEqual(verdict(await asked('somebody', 'anna')), { name: 'anna', groups: ['system:authenticated'] })
})

test('where there is no authority for front proxies yet, certificates say nothing', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: () => '', allowedNames: [] })
  assert.equal(verdict(await asked('proxy', 'anna')), undefined)
})

test('the UID of a certificate counts while AllowParsingUserUIDFromCertAuth is on', (t) => {
  const authority = opensslFolder(t).authority('uids')
  const certificate = new X509Certificate(authority.issue('/CN=anna/kubernetesUid=u1').cert).toLegacyObject()
  const request = { clientCertificate: () => ({ certificate, authorized: true }) } as unknown as Request
  const uid = (readsUid?: boolean): unknown => {
    const user = clientCertificate(authority.cert, () => {}, readsUid)(request)
    return typeof user === 'object' && 'name' in user ? [user.name, user.uid] : user
  }
  assert.deepEqual(uid(), ['anna', 'u1'])
  assert.deepEqual(uid(false), ['anna', undefined])
})
