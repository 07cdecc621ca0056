/** Tests of the errors of `t8s up`: one sentence with the remedy, exit code 1, no stack trace. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { t8s, temporaryFolder, up } from './t8s-process.ts'

/** Runs `t8s up` in a separate folder and checks its error. */
function refused(t: TestContext, args: readonly string[], ...messages: readonly (string | RegExp)[]): void {
  const { code, stderr } = t8s(['up', '--nodes=0', '--secure-port', '0', ...args], { cwd: temporaryFolder(t) })
  assert.equal(code, 1, stderr)
  for (const part of messages)
    assert.ok(typeof part === 'string' ? stderr.includes(part) : part.test(stderr), `${part} in:\n${stderr}`)
  assert.doesNotMatch(stderr, /^\s+at /m)
  assert.ok(stderr.trimEnd().split('\n').length <= 2, stderr)
}

function file(t: TestContext, name: string, text: string): string {
  const path = join(temporaryFolder(t), name)
  writeFileSync(path, text)
  return path
}

test('a port in use is an error', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  // The last value is used.
  refused(t, ['--secure-port', String(port)], `port ${port} on 127.0.0.1 is in use`, '--secure-port 0')
})

test('an address of another machine is an error', (t) =>
  refused(t, ['--bind-address', '203.0.113.7'], '203.0.113.7 is not an address of this machine', '--bind-address'))

test('a directory that cannot be written is an error', (t) => {
  refused(
    t,
    ['--data-dir', join(file(t, 'file', ''), 'below')],
    'cannot store data in',
    'not a directory',
    '--data-dir',
  )
  if (process.platform === 'linux')
    refused(t, ['--data-dir', '/proc/t8s'], 'cannot store data in /proc/t8s', '--data-dir')
})

test('a store owned by another process is an error', async (t) => {
  const data = join(temporaryFolder(t), 'data')
  const running = await up(t, ['--secure-port', '0', '--data-dir', data])
  refused(t, ['--data-dir', data], data, /another process|process \d+/)
  assert.equal(running.process.exitCode, null)
})

test('invalid values of flags are errors', (t) => {
  refused(t, ['--secure-port', '70000'], '--secure-port', '70000')
  refused(t, ['--bind-address', 'here'], '--bind-address', 'here')
  refused(t, ['--service-cluster-ip-range', '10.0.0.0'], '--service-cluster-ip-range', '10.0.0.0/24')
  refused(t, ['--runtime-config', 'api/beta=maybe'], '--runtime-config', 'api/beta=maybe')
  refused(t, ['--compaction-interval', 'soon'], '--compaction-interval', '5m')
  refused(t, ['-v', 'much'], '-v', 'much')
  refused(t, ['--secure-prot', '1'], '--secure-prot', 'Did you mean --secure-port?')
})

test('an error in a token file has the line number but no token', (t) => {
  const tokens = file(t, 'tokens.csv', 'good,admin,1\ns3cret,\n')
  refused(t, ['--token-auth-file', tokens], `${tokens}:2: `)
  assert.ok(!t8s(['up', '--token-auth-file', tokens, '-v', '4'], { cwd: temporaryFolder(t) }).stderr.includes('s3cret'))
  refused(t, ['--token-auth-file', '/no/such/file'], 'cannot read /no/such/file', '--token-auth-file')
})

test('missing, mismatched, expired and invalid certificates and keys are errors', async (t) => {
  const past = new Date(Date.now() - 400 * 24 * 3600 * 1000)
  const authority = await makeAuthority('test', past)
  const [expired, valid] = await Promise.all(
    [past, new Date()].map((now) => issueCertificate(authority, { commonName: 'server', usage: 'server' }, now)),
  )
  const pair = (cert: string, key: string): string[] => ['--tls-cert-file', cert, '--tls-private-key-file', key]
  const cert = file(t, 'server.crt', valid!.cert)
  const key = file(t, 'server.key', valid!.key)
  refused(t, ['--tls-cert-file', cert], '--tls-private-key-file go together')
  refused(t, pair(key, key), `${key} holds no certificate`, '--tls-cert-file')
  refused(t, pair(cert, cert), `${cert} holds no private key`, '--tls-private-key-file')
  refused(t, pair(cert, file(t, 'other.key', authority.key)), 'does not belong to the certificate')
  refused(t, pair(file(t, 'old.crt', expired!.cert), file(t, 'old.key', expired!.key)), 'expired on')
  refused(t, ['--client-ca-file', key], `${key} holds no certificate`, '--client-ca-file')
})

test('a kubeconfig of another program is not replaced', (t) => {
  const other = file(t, 'config', 'apiVersion: v1\nkind: Config\ncurrent-context: work\n')
  refused(t, ['--kubeconfig', other], `${other} is not a kubeconfig that t8s wrote`, '--merge-kubeconfig')
})

test('unknown controllers and invalid flags of controllers are errors', (t) => {
  refused(t, ['--controllers', 'deploymint'], '"deploymint" is not in the list of known controllers')
  refused(t, ['--concurrent-deployment-sync=3'], "unknown option '--concurrent-deployment-sync=3'")
  refused(t, ['--concurrent-deployment-syncs=many'], '--concurrent-deployment-syncs must be a number, not "many"')
  refused(t, ['--enable-dynamic-provisioning=maybe'], '--enable-dynamic-provisioning must be true or false')
})

test('-v 4 shows the stack of an error', (t) => {
  const { code, stderr } = t8s(['up', '--token-auth-file', '/no/such/file', '-v', '4'], { cwd: temporaryFolder(t) })
  assert.equal(code, 1)
  assert.match(stderr, /^\s+at /m)
})

test('a mistyped command suggests the nearest one, and help shows examples', () => {
  assert.equal(t8s(['foo']).stderr, "t8s: unknown command 'foo' (t8s --help lists the commands)\n")
  const flag = 't8s: unknown flag: --maxpods (t8s kubelet --help lists the flags)\n'
  assert.equal(t8s(['kubelet', '--maxpods=1']).stderr, flag)
  const { code, stderr } = t8s(['upp'])
  assert.equal(code, 1)
  assert.match(stderr, /Did you mean up\?/)
  assert.match(t8s(['--help']).stdout, /Examples:\n {2}t8s up/)
  assert.match(t8s(['version']).stdout, /^t8s \d+\.\d+\.\d+\nKubernetes v1\.36\.2\+t8s\.\d+\.\d+\.\d+\n/)
})
