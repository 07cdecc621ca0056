import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ExplainedError } from '../../lib/explained-error.ts'
import { filePki, memoryPki } from './pki.ts'

const hosts = ['127.0.0.1', '::1', 'localhost', 'kubernetes.default.svc', '10.96.0.1']
const days = (count: number) => new Date(Date.now() + count * 24 * 3600 * 1000)

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 't8s-pki-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return join(path, 'pki')
}

test('a new directory gets an authority, a server certificate and an admin in system:masters', async (t) => {
  const pki = await filePki(directory(t), hosts)
  assert.deepEqual([...pki.created].sort(), [
    'admin',
    'apiserver',
    'apiserver-kubelet-client',
    'ca',
    'front-proxy-ca',
    'front-proxy-client',
  ])
  const authority = new X509Certificate(pki.authority.cert)
  assert.equal(authority.ca, true)
  assert.ok(authority.validToDate > days(3650))
  const server = new X509Certificate(pki.server.cert)
  assert.ok(server.verify(authority.publicKey))
  for (const host of ['localhost', 'kubernetes.default.svc']) assert.equal(server.checkHost(host), host)
  for (const address of ['127.0.0.1', '::1', '10.96.0.1']) assert.equal(server.checkIP(address), address)
  const admin = new X509Certificate(pki.admin.cert)
  assert.equal(admin.subject, 'O=system:masters\nCN=kubernetes-admin')
  assert.ok(admin.checkPrivateKey(createPrivateKey(pki.admin.key)))
})

test('front proxies have a separate authority, which does not sign users', async (t) => {
  const { authority, frontProxy } = await filePki(directory(t), hosts)
  const client = new X509Certificate(frontProxy.client.cert)
  assert.equal(client.subject, `CN=${frontProxy.name}`)
  assert.ok(client.verify(new X509Certificate(frontProxy.authority.cert).publicKey))
  assert.ok(!client.verify(new X509Certificate(authority.cert).publicKey))
})

test('keys are readable by their owner only', async (t) => {
  const path = directory(t)
  const pki = await filePki(path, hosts)
  await pki.serviceAccountKey()
  assert.equal(statSync(path).mode & 0o777, 0o700)
  for (const name of ['ca.key', 'apiserver.key', 'admin.key', 'front-proxy-ca.key', 'front-proxy-client.key', 'sa.key'])
    assert.equal(statSync(join(path, name)).mode & 0o777, 0o600, name)
})

test('a second start reuses the files', async (t) => {
  const path = directory(t)
  const first = await filePki(path, hosts)
  const second = await filePki(path, hosts)
  assert.deepEqual(second.created, [])
  assert.equal(second.server.cert, first.server.cert)
  assert.ok((await second.serviceAccountKey()).equals(await first.serviceAccountKey()))
})

test('a new host causes a new server certificate by the same authority', async (t) => {
  const path = directory(t)
  const first = await filePki(path, hosts)
  const second = await filePki(path, [...hosts, '192.0.2.7'])
  assert.deepEqual(second.created, ['apiserver'])
  assert.equal(second.authority.cert, first.authority.cert)
})

test('expiring certificates are renewed; an expiring authority causes a warning', async (t) => {
  const path = directory(t)
  const { authority } = await filePki(path, hosts)
  const leaves = ['admin', 'apiserver', 'apiserver-kubelet-client', 'front-proxy-client']
  assert.deepEqual([...(await filePki(path, hosts, days(340))).created].sort(), leaves)
  const late = await filePki(path, hosts, days(3640))
  assert.deepEqual([[...late.created].sort(), late.authority.cert], [leaves, authority.cert])
  assert.match(late.warnings.join('\n'), /pki\/ca\.crt expires on .*\n.*front-proxy-ca\.crt expires on/)
})

const contents = (path: string) =>
  new Map(
    readdirSync(path).map((file) => [
      file,
      lstatSync(join(path, file)).isFile() ? readFileSync(join(path, file), 'utf8') : '',
    ]),
  )

/** Ways to damage a directory of certificates, with the expected error. */
const damages: readonly (readonly [string, (path: string) => void, RegExp, Date?])[] = ['ca', 'front-proxy-ca'].flatMap(
  (name) => {
    const [cert, key] = [`${name}.crt`, `${name}.key`]
    const write = (file: string, text: string) => (path: string) => writeFileSync(join(path, file), text)
    const cut = (file: string) => (path: string) => truncateSync(join(path, file), 100)
    const remove =
      (...files: string[]) =>
      (path: string) => {
        for (const file of files) rmSync(join(path, file))
      }
    const instead = (file: string) => (path: string) => {
      rmSync(join(path, file))
      mkdirSync(join(path, file))
    }
    const link = (file: string) => (path: string) => {
      rmSync(join(path, file))
      symlinkSync('/nowhere/at/all', join(path, file))
    }
    const cases: readonly (readonly [string, (path: string) => void, RegExp, Date?])[] = [
      [`${cert} is cut`, cut(cert), new RegExp(`${cert} is damaged`)],
      [`${cert} is empty`, write(cert, ''), new RegExp(`${cert} is damaged`)],
      [`${key} is cut`, cut(key), new RegExp(`${key} is damaged`)],
      [`${cert} is missing`, remove(cert), new RegExp(`${key} exists, but ${cert} is missing`)],
      [`${key} is missing`, remove(key), new RegExp(`${cert} exists, but ${key} is missing`)],
      [
        `both files of ${name} are missing`,
        remove(cert, key),
        new RegExp(`${cert} and ${key} are missing, but .*\\.crt was signed by them`),
      ],
      [`${cert} cannot be read`, instead(cert), new RegExp(`${cert} cannot be read`)],
      [`${key} cannot be read`, link(key), new RegExp(`${key} cannot be read`)],
      [
        `${key} belongs to another certificate`,
        (path) => copyFileSync(join(path, 'admin.key'), join(path, key)),
        new RegExp(`${key} does not belong to ${cert}`),
      ],
      [`${name} has expired`, () => {}, /expired on/, days(3660)],
      [`the clock is before ${name}`, () => {}, /is valid only from .*check the clock/, days(-1)],
    ]
    return cases
  },
)
const keyDamages: typeof damages = [
  ['sa.key is cut', (path) => truncateSync(join(path, 'sa.key'), 100), /sa\.key is damaged/],
  ['sa.key is missing', (path) => rmSync(join(path, 'sa.key')), /sa\.pub exists, but sa\.key is missing/],
  [
    'sa.key is another key',
    (path) => copyFileSync(join(path, 'ca.key'), join(path, 'sa.key')),
    /sa\.key does not belong to sa\.pub/,
  ],
]

for (const [what, damage, message, now] of [...damages, ...keyDamages]) {
  test(`if ${what}, nothing is replaced and the start fails with the remedy`, async (t) => {
    const path = directory(t)
    await (await filePki(path, hosts)).serviceAccountKey()
    damage(path)
    const before = contents(path)
    await assert.rejects(filePki(path, hosts, now), (error) => {
      assert.ok(error instanceof ExplainedError, `${error}`)
      assert.match(error.message, message)
      assert.match(
        error.message,
        /nothing was changed\. Restore .* from a copy\. To create a new (authority|key), .* remove .* and restart/,
      )
      return true
    })
    assert.deepEqual(contents(path), before)
    const files = (await filePki(path, hosts, now).catch(
      (error: Error) => /, remove (.*) and restart/.exec(error.message)?.[1] ?? '',
    )) as string
    for (const file of files.split(' ')) rmSync(file, { force: true, recursive: true })
    // The other authority has the same clock problem.
    if (!now) assert.ok((await (await filePki(path, hosts)).serviceAccountKey()).asymmetricKeyType)
  })
}

test('a service account key without its public key, as in early versions, is used', async (t) => {
  const path = directory(t)
  const key = await (await filePki(path, hosts)).serviceAccountKey()
  rmSync(join(path, 'sa.pub'))
  assert.ok((await (await filePki(path, hosts)).serviceAccountKey()).equals(key))
  assert.ok(existsSync(join(path, 'sa.pub')))
})

test('a damaged certificate or a key of another one is replaced', async (t) => {
  const path = directory(t)
  await filePki(path, hosts)
  writeFileSync(join(path, 'apiserver.crt'), 'not a certificate')
  writeFileSync(join(path, 'admin.key'), readFileSync(join(path, 'ca.key')))
  assert.deepEqual([...(await filePki(path, hosts)).created].sort(), ['admin', 'apiserver'])
})

test('the service account key is RSA, for RS256 tokens', async () => {
  const { serviceAccountKey } = await memoryPki(hosts)
  const key = await serviceAccountKey()
  assert.equal(key.asymmetricKeyType, 'rsa')
  assert.equal(key.asymmetricKeyDetails?.modulusLength, 2048)
})

test('clusters in memory share an authority and, for the same hosts, the server certificate', async () => {
  const first = await memoryPki(hosts)
  const second = await memoryPki(hosts)
  const other = await memoryPki([...hosts, 'example.test'])
  assert.equal(first.server.cert, second.server.cert)
  assert.notEqual(first.server.cert, other.server.cert)
  assert.equal(first.authority.cert, other.authority.cert)
})

test('a directory that cannot be created is an explained error', async (t) => {
  const path = directory(t)
  writeFileSync(path, '')
  await assert.rejects(
    filePki(join(path, 'below'), hosts),
    (error) =>
      error instanceof ExplainedError &&
      error.message.includes('not a directory') &&
      error.message.includes('--data-dir'),
  )
})
