/** TLS between the store and etcd. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type EtcdTls, openEtcdStore } from '../../src/storage/etcd/index.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'

/** Two authorities, `ca` and `other`, and certificates of `ca` for `server` and `client`. */
function certificates(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-etcd-tls-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const key = (name: string) => {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    return [...curve, '-keyout', `${name}.key`, '-subj', `/CN=${name}`]
  }
  for (const name of ['ca', 'other']) openssl('req', '-x509', ...key(name), '-out', `${name}.crt`)
  writeFileSync(join(folder, 'extensions'), 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n')
  for (const name of ['server', 'client']) {
    openssl('req', ...key(name), '-out', `${name}.csr`)
    const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial']
    openssl('x509', '-req', '-in', `${name}.csr`, ...authority, '-extfile', 'extensions', '-out', `${name}.crt`)
  }
  return folder
}

test('a client certificate and the authority are needed; others are reported with the remedy', {
  skip: withoutEtcd,
}, async (t) => {
  const folder = certificates(t)
  const file = (name: string) => readFileSync(join(folder, name))
  const [member] = startEtcd(t, {
    scheme: 'unixs',
    flags: [
      `--cert-file=${join(folder, 'server.crt')}`,
      `--key-file=${join(folder, 'server.key')}`,
      '--client-cert-auth',
      `--trusted-ca-file=${join(folder, 'ca.crt')}`,
    ],
  })
  const open = (tls: EtcdTls) => openEtcdStore({ servers: [member!.url], tls })
  const client = { cert: file('client.crt'), key: file('client.key') }
  const store = await open({ ca: file('ca.crt'), ...client })
  assert.equal(await store.currentRevision(), 1)
  await store.close()
  await assert.rejects(open({ ca: file('other.crt'), ...client }), {
    name: 'StoreOpenError',
    message:
      `cannot use the store: etcd at ${member!.url} has a certificate that the CA does not vouch for: ` +
      'give the CA of its server certificate with --etcd-cafile',
  })
  await assert.rejects(open({ ca: file('ca.crt') }), /ended the connection.*--etcd-certfile/)
})

test('a server without TLS is reported with the remedy', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-etcd-tls-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'etcd')
  const server = createServer((socket) => {
    socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  t.after(() => server.close())
  await once(server.listen(path), 'listening')
  await assert.rejects(openEtcdStore({ servers: [`unixs://${path}`] }), /does not speak TLS: write its URL with http/)
})
