/** `t8s dns` answers dig: names of Services and pods, and by dnsmasq those outside of the cluster. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import { apiControllers, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { type DnsProcess, dig, startDns, startDnsmasq } from './dns-process.ts'

const [port, outside, corporate] = [5300, 5301, 5302]
const services = '/api/v1/namespaces/default/services'
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

const service = (name: string, spec: object) => ({ metadata: { name }, spec })
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]

const slice = (of: string, addresses: readonly string[]) => ({
  metadata: { name: `${of}-1`, labels: { 'kubernetes.io/service-name': of } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: addresses.map((address, index) => ({ addresses: [address], hostname: `${of}-${index}` })),
})

const svc = (name: string): string => `${name}.default.svc.cluster.local`

async function createObjects({ call }: TestCluster): Promise<void> {
  await call('POST', services, service('web', { clusterIP: '10.0.0.77', ports }))
  await call('POST', services, service('db', { clusterIP: 'None', ports }))
  await call('POST', slices, slice('db', ['10.244.0.3', '10.244.0.4']))
  await call('POST', services, service('large', { clusterIP: 'None', ports }))
  const many = Array.from({ length: 60 }, (_, index) => `10.244.1.${index + 1}`)
  await call('POST', slices, slice('large', many))
  for (const [name, externalName] of [
    ['out', 'www.example.test'],
    ['in', svc('web')],
    ['loop', svc('loop')],
  ])
    await call('POST', services, service(name!, { type: 'ExternalName', externalName }))
}

function testNames(): void {
  test('names of Services, ports, endpoints and pods', async () => {
    for (const [name, type, expected] of [
      [svc('web'), 'A', ['A 10.0.0.77']],
      [svc('WeB'), 'A', ['A 10.0.0.77']],
      [`_http._tcp.${svc('web')}`, 'SRV', [`SRV 0 100 80 ${svc('web')}.`]],
      [svc('db-1.db'), 'A', ['A 10.244.0.4']],
      ['10-244-0-9.default.pod.cluster.local', 'A', ['A 10.244.0.9']],
      ['77.0.0.10.in-addr.arpa', 'PTR', [`PTR ${svc('web')}.`]],
      ['4.0.244.10.in-addr.arpa', 'PTR', [`PTR ${svc('db-1.db')}.`]],
      ['dns-version.cluster.local', 'TXT', ['TXT "1.1.0"']],
    ] as const) {
      const { status, flags, answers, ttl } = await dig(port, name, type)
      assert.deepEqual([status, flags, answers, ttl], ['NOERROR', 'qr aa rd ra', expected, 30], `${type} ${name}`)
    }
  })

  test('names without records and names that do not exist differ, and both name the authority', async () => {
    for (const [name, type, expected] of [
      [svc('web'), 'AAAA', 'NOERROR'],
      ['default.svc.cluster.local', 'A', 'NOERROR'],
      [svc('none'), 'A', 'NXDOMAIN'],
      ['web.none.svc.cluster.local', 'A', 'NXDOMAIN'],
    ] as const) {
      const { status, answers, authority } = await dig(port, name, type)
      assert.deepEqual([status, answers], [expected, []], name)
      assert.match(
        authority.join(),
        /^SOA ns\.dns\.cluster\.local\. hostmaster\.cluster\.local\. \d+ 7200 1800 86400 30$/,
      )
    }
  })

  test('the addresses of a headless Service take turns', async () => {
    const firsts = new Set<string | undefined>()
    for (let i = 0; i < 4; i++) firsts.add((await dig(port, svc('db'))).answers[0])
    assert.deepEqual([...firsts].sort(), ['A 10.244.0.3', 'A 10.244.0.4'])
    const { answers, additional } = await dig(port, `_http._tcp.${svc('db')}`, 'SRV')
    assert.deepEqual(answers, [`SRV 0 50 8080 ${svc('db-0.db')}.`, `SRV 0 50 8080 ${svc('db-1.db')}.`])
    assert.deepEqual(additional, ['A 10.244.0.3', 'A 10.244.0.4'])
  })

  test('an answer that is too long for UDP is cut, and whole by TCP', async () => {
    const cut = await dig(port, svc('large'), 'A', '+noedns', '+ignore')
    assert.match(cut.flags, /\btc\b/)
    assert(cut.answers.length >= 25, `${cut.answers.length} answers fit into 512 bytes`)
    const whole = await dig(port, svc('large'), 'A', '+noedns')
    assert.deepEqual([whole.answers.length, /\btc\b/.test(whole.flags)], [60, false])
  })
}

function testForwarding(dns: DnsProcess): void {
  test('names outside of the cluster are forwarded and cached', async () => {
    assert.deepEqual((await dig(port, 'www.example.test')).answers, ['A 192.0.2.80'])
    assert.deepEqual((await dig(port, 'mail.corp.test')).answers, ['A 198.51.100.1'])
    assert.equal((await dig(port, 'none.test')).status, 'NXDOMAIN')
    assert.deepEqual((await dig(port, '80.2.0.192.in-addr.arpa', 'PTR')).answers, ['PTR www.example.test.'])
    const text = await metrics()
    assert.match(
      text,
      /coredns_dns_requests_total\{server="dns:\/\/:53",zone=".",view="",proto="udp",family="1",type="A"\} \d+/,
    )
    assert.match(
      text,
      /coredns_proxy_request_duration_seconds_count\{proxy_name="forward",to="127.0.0.1:5301",rcode="NOERROR"\} \d/,
    )
    await dig(port, 'WWW.example.test')
    assert.match(await metrics(), /coredns_cache_hits_total\{server="dns:\/\/:53",type="success"\} [1-9]/)
  })

  test('an alias leads to addresses outside and inside of the cluster', async () => {
    assert.deepEqual((await dig(port, svc('out'))).answers, ['CNAME www.example.test.', 'A 192.0.2.80'])
    assert.deepEqual((await dig(port, svc('in'))).answers, [`CNAME ${svc('web')}.`, 'A 10.0.0.77'])
    assert.equal((await dig(port, svc('loop'))).status, 'NOERROR')
  })

  test('long answers of other servers come by TCP', async () => {
    const { answers } = await dig(port, 'long.example.test', 'TXT', '+noedns')
    assert.equal(answers.length, 9)
  })

  test('a server that does not answer is replaced by the next one', async () => {
    assert.deepEqual((await dig(port, 'a.broken.test', 'A', '+time=9')).answers, ['A 192.0.2.81'])
    assert.equal((await dig(port, 'a.dead.test', 'A', '+time=9')).status, 'SERVFAIL')
    assert.equal(dns.process.exitCode, null)
  })
}

const metrics = async (): Promise<string> => (await fetch('http://127.0.0.1:9153/metrics')).text()

function testHostile(): void {
  test('damaged messages are refused or ignored', async () => {
    const header = (flags: number, questions = 1): Buffer =>
      Buffer.from([1, 2, flags >> 8, flags & 255, 0, questions, 0, 0, 0, 0, 0, 0])
    const name = Buffer.from('\x03web\x00\x00\x01\x00\x01', 'latin1')
    const codes = await Promise.all([
      rcodeOf(Buffer.concat([header(0x2800), name])),
      rcodeOf(Buffer.concat([header(0x0100, 2), name])),
      rcodeOf(Buffer.concat([header(0x0100), Buffer.from([0xc0, 0x0c, 0, 1, 0, 1])])),
      rcodeOf(Buffer.concat([header(0x0100), name.subarray(0, 5)])),
    ])
    assert.deepEqual(codes, [4, 1, 1, 1])
    const ignored = [Buffer.from([1, 2, 3]), Buffer.concat([header(0x8100), name])]
    assert.deepEqual(await Promise.all(ignored.map((message) => rcodeOf(message, 300))), [undefined, undefined])
    assert.equal((await dig(port, svc('web'), 'A', '+edns=1', '+noednsneg')).status, 'BADVERS')
    assert.equal((await dig(port, 'version.bind', 'TXT', '-c', 'CH')).status, 'REFUSED')
    assert.equal((await dig(port, svc('web'), 'ANY', '+notcp')).status, 'NOERROR')
  })

  test('a connection has several questions at a time, and ends with garbage', async () => {
    const socket = connect(port, '127.0.0.1')
    const question = Buffer.concat([
      Buffer.from([0, 38, 7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
      Buffer.from('\x03web\x07default\x03svc\x07cluster\x05local\x00\x00\x01\x00\x01', 'latin1'),
    ])
    question.writeUInt16BE(question.length - 2)
    let received = 0
    socket.on('data', (chunk) => (received += chunk.length))
    for (const byte of [...question, ...question]) socket.write(Buffer.from([byte]))
    await waitFor('both are answered', () => received === 2 * (question.length + 16))
    socket.write(Buffer.from([0, 3, 1, 2, 3]))
    await once(socket, 'close')
  })
}

async function rcodeOf(message: Buffer, waitMs = 5000): Promise<number | undefined> {
  const socket = createSocket('udp4')
  socket.connect(port, '127.0.0.1')
  await once(socket, 'connect')
  try {
    socket.send(message)
    const [response] = (await once(socket, 'message', { signal: AbortSignal.timeout(waitMs) })) as [Buffer]
    return response.readUInt16BE(2) & 15
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}

function testChanges(cluster: TestCluster, dns: DnsProcess): void {
  test('answers follow Services and endpoints', async () => {
    assert.equal((await dig(port, svc('late'))).status, 'NXDOMAIN')
    await cluster.call('POST', services, service('late', { clusterIP: 'None', ports }))
    await cluster.call('POST', slices, slice('late', ['10.244.0.8']))
    await waitFor('the name exists', () => dig(port, svc('late')).then(({ answers }) => answers[0] === 'A 10.244.0.8'))
    const gone = { endpoints: [{ addresses: ['10.244.0.8'], conditions: { ready: false } }] }
    await cluster.call('PATCH', `${slices}/late-1`, gone, 'application/merge-patch+json')
    await waitFor('no endpoint is ready', () => dig(port, svc('late')).then(({ status }) => status === 'NXDOMAIN'))
  })

  test('after a signal it answers until clients have gone to others', async () => {
    assert.equal((await fetch('http://127.0.0.1:8181/ready')).status, 200)
    assert.equal((await fetch('http://127.0.0.1:8080/health')).status, 200)
    await cluster.stop({ graceMs: 0 })
    assert.deepEqual((await dig(port, svc('web'))).answers, ['A 10.0.0.77'], 'without an API server')
    dns.process.kill('SIGTERM')
    await waitFor('it is not ready', () => fetch('http://127.0.0.1:8181/ready').then(({ status }) => status === 503))
    assert.equal((await fetch('http://127.0.0.1:8080/health')).status, 503)
    assert.deepEqual((await dig(port, svc('web'))).answers, ['A 10.0.0.77'])
    await once(dns.process, 'exit')
    assert.equal(dns.process.exitCode, 0, dns.output())
  })
}

await inNamespaces(import.meta.filename, async () => {
  prepareNodeNamespaces()
  const cluster = await testCluster({ after }, { controllers: apiControllers })
  await createObjects(cluster)
  const long = Array.from({ length: 9 }, (_, index) => `--txt-record=long.example.test,${'x'.repeat(200)}${index}`)
  await startDnsmasq(
    outside,
    '--address=/www.example.test/192.0.2.80',
    '--ptr-record=80.2.0.192.in-addr.arpa,www.example.test',
    '--address=/test/',
    ...long,
  )
  await startDnsmasq(corporate, '--address=/corp.test/198.51.100.1', '--address=/a.broken.test/192.0.2.81')
  const dns = await startDns(
    cluster.kubeconfigFile,
    port,
    ...['--upstream', `127.0.0.1:${outside}`, '--lameduck', '1s'],
    ...['--stub-domain', `corp.test=127.0.0.1:${corporate}`],
    ...['--stub-domain', `broken.test=127.0.0.1:9,127.0.0.1:${corporate}`, '--stub-domain', 'dead.test=127.0.0.1:9'],
  )
  testNames()
  testForwarding(dns)
  testHostile()
  testChanges(cluster, dns)
})
