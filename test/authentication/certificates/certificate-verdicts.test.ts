/** Client certificate authenticators without a server. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import test from 'node:test'
import { clientCertificate } from '../../../src/apiserver/authentication/client-certificate.ts'
import { defaultHeaders, requestHeader } from '../../../src/apiserver/authentication/request-header.ts'
import type { Request } from '../../../src/apiserver/http/exchange.ts'
import { issueCertificate, makeAuthority } from '../../../src/lib/x509/certificates.ts'
import { opensslFolder } from './openssl.ts'

const authority = await makeAuthority('ours', new Date())

/** A request with a certificate, if it has a name, and with a user in its headers, if given. */
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

test('a valid certificate without a name is ignored', async () => {
  const verdict = clientCertificate(authority.cert)
  assert.deepEqual(verdict(await asked('')), undefined)
  assert.deepEqual(verdict(await asked('', undefined, await makeAuthority('ours', new Date()))), 'invalid')
})

test('without a CA, certificates are ignored', async () => {
  let bundle = ''
  const verdict = clientCertificate(() => bundle)
  const anna = await asked('anna')
  assert.equal(verdict(anna), undefined)
  bundle = authority.cert
  const user = verdict(anna)
  assert.equal(typeof user === 'object' && 'name' in user && user.name, 'anna')
})

test('the remaining lifetime of every certificate is observed, rejected ones included', async () => {
  const lifetimes: number[] = []
  const verdict = clientCertificate(authority.cert, (seconds) => void lifetimes.push(seconds))
  assert.equal(verdict(await asked('anna', undefined, await makeAuthority('ours', new Date()))), 'invalid')
  assert.equal(lifetimes.length, 1)
  assert.ok(lifetimes[0]! > 3600)
})

test('a certificate that is no front proxy’s is rejected, not treated as anonymous', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: authority.cert, allowedNames: ['proxy'] })
  assert.deepEqual(verdict(await asked('proxy', 'anna')), { name: 'anna', groups: ['system:authenticated'] })
  assert.equal(verdict(await asked('proxy')), undefined)
  assert.equal(verdict(await asked(undefined, 'anna')), undefined)
  assert.equal(verdict(await asked('somebody', 'anna')), 'invalid')
  assert.equal(verdict(await asked('somebody')), 'invalid')
  assert.equal(verdict(await asked('proxy', 'anna', await makeAuthority('ours', new Date()))), 'invalid')
})

test('without allowed names, all names are allowed', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: authority.cert, allowedNames: [] })
  assert.deepEqual(verdict(await asked('somebody', 'anna')), { name: 'anna', groups: ['system:authenticated'] })
})

test('without a front-proxy CA, certificates are ignored', async () => {
  const verdict = requestHeader({ ...defaultHeaders, clientCA: () => '', allowedNames: [] })
  assert.equal(verdict(await asked('proxy', 'anna')), undefined)
})

test('the UID of a certificate is used if AllowParsingUserUIDFromCertAuth is on', (t) => {
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
