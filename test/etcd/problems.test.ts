/** etcd that cannot serve until its user acts: servers are unready with one sentence, and recover by themselves. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:http2'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { create, toBinary } from '@bufbuild/protobuf'
import { StatusResponseSchema } from '#protobuf/etcd-rpc_pb.js'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { type EtcdTls, openEtcdStore } from '../../src/storage/etcd/index.ts'
import type { Store } from '../../src/storage/store.ts'
import { http2Client } from '../support/api-client.ts'
import { serve } from '../support/api-server.ts'
import { etcdctl, startEtcd, startLearner, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'
import { temporaryFolder } from '../up/t8s-process.ts'

const skip = withoutEtcd

async function open(t: TestContext, servers: readonly string[], tls: EtcdTls = {}): Promise<Store> {
  const store = await openEtcdStore({ servers, tls, pollMs: 500, compactionMs: 0 })
  t.after(() => store.close())
  return store
}

const write = (store: Store) =>
  store.commit({ conditions: [], operations: [{ key: '/registry/x', value: Buffer.from('1') }] })

/** An API server; `isReady` resolves when `/readyz` has answered in the expected way. */
async function apiServer(t: TestContext, store: Store) {
  const server = await serve(t, store)
  const client = http2Client(t, server)
  const isReady = (expected: boolean): Promise<unknown> =>
    waitFor(`/readyz to be ${expected}`, async () => {
      const { status } = await client.request('GET', '/readyz')
      return (status === 200) === expected
    })
  const logged = (line: RegExp): Promise<unknown> =>
    waitFor(`${line} in the log`, () => server.logLines.some((one) => line.test(one)))
  await isReady(true)
  return { isReady, logged }
}

test('a learner is passed over; alone it is waited for until it is promoted', { skip }, async (t) => {
  const [voter] = startEtcd(t)
  const first = await open(t, [voter!.url])
  await write(first)
  const learner = startLearner(t, voter!)
  const store = await open(t, [learner.url, voter!.url])
  await write(store)
  assert.equal((await store.get('/registry/x'))?.value.toString(), '1')
  await assert.rejects(openEtcdStore({ servers: [learner.url], timeoutMs: 2_000 }), {
    name: 'StoreOpenError',
    message:
      `cannot use the store: etcd at ${learner.url} is a learner, which serves no requests: promote it with ` +
      '`etcdctl member promote`',
  })
  const waiting = open(t, [learner.url])
  const [, id = ''] = /^(\w+), \w+, m1,/m.exec(etcdctl(voter!.url, 'member', 'list')) ?? []
  await waitFor('the promotion', () => etcdctl(voter!.url, 'member', 'promote', id) !== '')
  await write(await waiting)
})

test('a server is unready while the alarm CORRUPT is raised', { skip }, async (t) => {
  const [member] = startEtcd(t)
  const store = await open(t, [member!.url])
  const { isReady, logged } = await apiServer(t, store)
  await raiseAlarm(member!.url, 'CORRUPT')
  await assert.rejects(write(store), /data differ from the others \(alarm CORRUPT\): replace it/)
  assert.match(store.problem!, /alarm CORRUPT/)
  await isReady(false)
  await logged(/alarm CORRUPT/)
  etcdctl(member!.url, 'alarm', 'disarm')
  await isReady(true)
  await logged(/the store can write again/)
  await write(store)
})

test('a server is unready while the certificate of etcd is not valid by its clock', { skip }, async (t) => {
  const folder = temporaryFolder(t)
  const authority = await makeAuthority('etcd-ca', new Date())
  const files = { cert: join(folder, 'crt'), key: join(folder, 'key'), ca: join(folder, 'ca') }
  /** Certificates are valid from an hour before the given time. */
  const certificate = (usage: 'server' | 'client', fromMs: number) =>
    issueCertificate(authority, { commonName: 'etcd', usage, hosts: ['localhost'] }, new Date(fromMs + 3_600_000))
  const writeCertificate = async (fromMs: number): Promise<void> => {
    const { cert, key } = await certificate('server', fromMs)
    writeFileSync(files.cert, cert)
    writeFileSync(files.key, key)
  }
  writeFileSync(files.ca, authority.cert)
  await writeCertificate(Date.now() - 1000)
  const flags = ['--client-cert-auth', `--trusted-ca-file=${files.ca}`]
  const [member] = startEtcd(t, {
    scheme: 'unixs',
    flags: [`--cert-file=${files.cert}`, `--key-file=${files.key}`, ...flags],
  })
  const tlsOf = ({ cert, key }: { readonly cert: string; readonly key: string }): EtcdTls => ({
    ca: readFileSync(files.ca),
    cert: Buffer.from(cert),
    key: Buffer.from(key),
  })
  const store = await open(t, [member!.url], tlsOf(await certificate('client', Date.now() - 1000)))
  const { isReady, logged } = await apiServer(t, store)

  await member!.kill()
  await writeCertificate(Date.now() + 5_000)
  member!.start()
  await isReady(false)
  await logged(/has a certificate that is not valid yet by this machine's clock: check the clocks of both machines/)
  await isReady(true)
  await write(store)

  await assert.rejects(
    open(t, [member!.url], tlsOf(await certificate('client', Date.now() + 3_600_000))),
    /if it requires a client certificate, give one that it trusts and that is valid by its clock/,
  )
})

test('an etcd that is too old, or without a version, is not used', { skip }, async (t) => {
  const [member] = startEtcd(t)
  const old = await statusServer(t, '3.3.27')
  await write(await open(t, [old, member!.url]))
  await assert.rejects(openEtcdStore({ servers: [old] }), {
    message: `cannot use the store: etcd at ${old} is version 3.3.27: upgrade it to 3.4 or a later version`,
  })
  const unknown = await statusServer(t, '')
  await assert.rejects(openEtcdStore({ servers: [unknown] }), /does not name its version: use etcd 3.4 or a later/)
})

/** Raises an alarm as a member does, by the maintenance API. */
async function raiseAlarm(url: string, alarm: string): Promise<void> {
  const post = async (path: string, body: object): Promise<{ readonly header?: { readonly member_id?: string } }> => {
    const socketPath = url.replace('unix://', '')
    const posted = request({ socketPath, path, method: 'POST' })
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    posted.on('error', reject)
    posted.on('response', async (response) => resolve(Buffer.concat(await response.toArray()).toString()))
    posted.end(JSON.stringify(body))
    return JSON.parse(await promise)
  }
  const { header } = await post('/v3/maintenance/status', {})
  await post('/v3/maintenance/alarm', { action: 'ACTIVATE', memberID: header?.member_id, alarm })
}

/** A stand-in for a member of another version, which no package has: it returns its status and serves nothing else. */
async function statusServer(t: TestContext, version: string): Promise<string> {
  const path = join(temporaryFolder(t), 'socket')
  const status = toBinary(StatusResponseSchema, create(StatusResponseSchema, { version, leader: 1n }))
  const frame = Buffer.alloc(5)
  frame.writeUInt32BE(status.length, 1)
  const server = createServer()
  server.on('stream', (stream) => {
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.end(Buffer.concat([frame, status]))
  })
  await new Promise<void>((listening) => server.listen(path, listening))
  t.after(() => server.close())
  return `unix://${path}`
}
