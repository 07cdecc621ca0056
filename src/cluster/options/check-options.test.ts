import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExplainedError } from '../../lib/explained-error.ts'
import { makeAuthority } from '../../lib/x509/certificates.ts'
import { checkOptions } from './check-options.ts'

const authority = await makeAuthority('authority', new Date())
const other = await makeAuthority('other', new Date())

function messageOf(options: unknown): string {
  try {
    checkOptions(options)
  } catch (error) {
    assert.ok(error instanceof ExplainedError, String(error))
    return error.message
  }
  return ''
}

test('right options are accepted', () => {
  const right: readonly object[] = [
    {},
    { port: undefined, storage: undefined },
    { storage: 'memory', port: 0, bindAddress: '::1', verbosity: 2, log() {} },
    { storage: { directory: 'data', acceptDataLoss: true, notice() {} } },
    { storage: { etcd: { servers: ['http://127.0.0.1:2379'], tls: { ca: Buffer.from('') } }, directory: 'pki' } },
    { tokens: [{ token: 'secret', user: { name: 'jane', groups: [], extra: { scopes: ['a'] } } }] },
    { tls: authority, proxyClient: other, clientCA: `${authority.cert}\n${other.cert}` },
    { controllers: ['*', '-job-controller'], controllerFlags: { 'concurrent-gc-syncs': '5' } },
    { nodes: 3, scheduler: true, ingress: { httpPort: 0 }, serviceClusterIpRange: '10.0.0.0/24,fd00::/108' },
    { nodes: { count: 2, real: { docker: true, fallback: 'simulated' } }, scheduler: { plugins: [] } },
    { compaction: { intervalMs: 10, retainMs: 0 }, runtimeConfig: ['batch/v2=true'], warmUp: false },
  ]
  for (const options of right) assert.equal(messageOf(options), '')
})

test('each wrong option is named with its remedy', () => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [null, 'the options must be an object, such as { nodes: 1 }, not null'],
    [{ unknown: 1 }, 'unknown option unknown: choose from storage, bindAddress, port, '],
    [{ prot: 1 }, 'unknown option prot: did you mean port?'],
    [{ Nodes: 1 }, 'unknown option Nodes: did you mean nodes?'],
    [{ port: -1 }, 'the option port must be a whole number from 0 to 65535, not -1'],
    [{ port: '6443' }, 'the option port must be a whole number from 0 to 65535, not "6443"'],
    [{ nodes: 2.5 }, 'the option nodes must be a whole number from 0 on, or an object, not 2.5'],
    [{ nodes: 'x' }, 'the option nodes must be a whole number from 0 on, or an object, not "x"'],
    [{ nodes: { numbr: 2 } }, 'unknown option nodes.numbr: choose from count, '],
    [{ nodes: { cuont: 2 } }, 'unknown option nodes.cuont: did you mean count?'],
    [{ nodes: { real: { fallback: 'real' } } }, 'the option nodes.real.fallback must be "simulated", not "real"'],
    [{ storage: 'disk' }, 'the option storage must be "memory", { directory } or { etcd }, not "disk"'],
    [{ storage: {} }, 'the option storage must be "memory", { directory } or { etcd }, not {}'],
    [{ storage: { directory: '' } }, 'the option storage.directory must be a path, not ""'],
    [{ storage: { etcd: { servers: [] } } }, 'the option storage.etcd.servers must be an array with a URL at least'],
    [{ tls: 'x' }, 'the option tls must be an object with cert and key, both PEM, not "x"'],
    [{ tls: {} }, 'the option tls.cert is missing: it must be the text of a PEM file'],
    [{ tls: { cert: authority.cert, key: other.key } }, 'the key of the option tls is not that of its certificate'],
    [{ tls: { ...authority, cert: authority.cert.slice(0, 80) } }, 'the option tls is no certificate with its key'],
    [{ clientCA: 'x' }, 'the option clientCA must be the text of a PEM file with certificates, not "x"'],
    [
      { clientCA: authority.key },
      'the option clientCA must be the text of a PEM file with certificates, not a private',
    ],
    [{ tokens: [{ token: 'x' }] }, 'the option tokens[0].user is missing: it must be an object with name and groups'],
    [{ tokens: ['x'] }, 'the option tokens[0] must be an object with token and user, not "x"'],
    [{ controllers: 'x' }, 'the option controllers must be true, false or an array of names, not "x"'],
    [{ serviceClusterIpRange: '10.0.0.0' }, 'the option serviceClusterIpRange must be one or two ranges of addresses'],
    [{ apiServerFlags: ['--secure-port=1'] }, '--secure-port is an option of a cluster: set port instead'],
    [{ log: 'x' }, 'the option log must be a function, not "x"'],
  ]
  for (const [options, message] of wrong)
    assert.ok(messageOf(options).startsWith(message), `${JSON.stringify(options)}: ${messageOf(options)}`)
})
