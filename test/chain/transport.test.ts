/** TLS settings of the listener by flags, as openssl sees them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { readIdentity } from '../../src/cluster/credentials/identity-files.ts'
import { type Authority, opensslFolder } from '../authentication/certificates/openssl.ts'
import { ask } from '../authentication/whoami.ts'
import { bareServer } from '../support/bare-server.ts'
import { testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'

const run = promisify(execFile)

/** The output of `openssl s_client` for a connection; it ends by itself. */
async function connection(port: number, ...more: string[]): Promise<string> {
  const client = run('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, ...more], { timeout: 20_000 })
  client.child.stdin?.end()
  const { stdout, stderr } = await client.catch((error: { stdout: string; stderr: string }) => error)
  return stdout + stderr
}

/** A serving certificate for a name, in files that are replaced atomically. */
function filesOf(folder: string, authority: Authority, commonName: string, name = commonName): [string, string] {
  const pair = authority.issue(`/CN=${commonName}`, { usage: 'serverAuth' })
  const put = (ending: string, text: string): string => {
    const path = join(folder, `${name}.${ending}`)
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
    return path
  }
  return [put('crt', pair.cert), put('key', pair.key)]
}

test('versions and suites are those of the flags', async (t) => {
  const [usual, newest, chosen] = await Promise.all([
    testCluster(t, bareServer),
    testCluster(t, { ...bareServer, apiServerFlags: ['--tls-min-version=VersionTLS13', '--disable-http2-serving'] }),
    testCluster(t, {
      ...bareServer,
      apiServerFlags: [
        '--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
      ],
    }),
  ])
  assert.match(await connection(usual.port, '-tls1_2', '-alpn', 'h2'), /ALPN protocol: h2/)
  assert.match(await connection(newest.port, '-tls1_2'), /alert protocol version/)
  assert.match(await connection(newest.port, '-alpn', 'h2,http/1.1'), /TLSv1\.3[\s\S]*ALPN protocol: http\/1\.1/)
  assert.match(
    await connection(chosen.port, '-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256'),
    /handshake failure/,
  )
  assert.match(await connection(chosen.port, '-tls1_2'), /Cipher is ECDHE-\w+-AES256-GCM-SHA384/)
  assert.match(await connection(chosen.port), /New, TLSv1\.3/)
})

test('a client gets the certificate for its server name, and may use a client certificate', async (t) => {
  const { folder, authority } = opensslFolder(t)
  const [servers, users] = [authority('servers'), authority('users')]
  const flags = [
    `--tls-sni-cert-key=${filesOf(folder, servers, 'api.example.com')}`,
    `--tls-sni-cert-key=${filesOf(folder, servers, 'inner')}:*.inner.example.com, other.example.com`,
    `--client-ca-file=${users.file}`,
  ]
  const cluster = await testCluster(t, { ...bareServer, apiServerFlags: flags })
  const subject = async (server: string) =>
    /subject=(.*)/.exec(await connection(cluster.port, '-servername', server))?.[1]?.replaceAll(' ', '')
  assert.equal(await subject('api.example.com'), 'CN=api.example.com')
  assert.equal(await subject('a.inner.example.com'), 'CN=inner')
  assert.equal(await subject('other.example.com'), 'CN=inner')
  assert.notEqual(await subject('elsewhere.example.com'), 'CN=inner')
  const anna = users.issue('/CN=anna')
  assert.equal(
    (await ask(cluster, { ...anna, ca: servers.cert, servername: 'api.example.com' })).user?.username,
    'anna',
  )
})

test('a renewed certificate is used for new connections; half of a pair is ignored', async (t) => {
  const { folder, authority } = opensslFolder(t)
  const servers = authority('servers')
  const logged: string[] = []
  const [tlsCertFile, tlsPrivateKeyFile] = filesOf(folder, servers, 'first', 'serving')
  const { tls } = readIdentity({ tlsCertFile, tlsPrivateKeyFile }, (line) => logged.push(line))
  const cluster = await testCluster(t, { ...bareServer, tls })
  const subject = async () => /subject=(.*)/.exec(await connection(cluster.port))?.[1]?.replaceAll(' ', '')
  assert.equal(await subject(), 'CN=first')
  writeFileSync(tlsPrivateKeyFile, authority('others').issue('/CN=other').key)
  await waitFor(
    'the pair is read',
    async () =>
      (await subject()) === 'CN=first' && logged.some((line) => /using the previous content: the key/.test(line)),
  )
  filesOf(folder, servers, 'second', 'serving')
  await waitFor('the new certificate', async () => (await subject()) === 'CN=second')
})
