/** `t8s cni` beside the plug-ins bridge, host-local and portmap of Debian, in namespaces of its own. Needs root. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemCalls } from '../../src/lib/linux/system-calls.ts'
import { neighbourFilter } from '../../src/network/arp/capture/packet-filter.ts'
import { PacketSocket } from '../../src/network/arp/capture/packet-socket.ts'
import { AddressCheck } from '../../src/network/arp/check/address-check.ts'
import { claimOf } from '../../src/network/arp/check/address-claim.ts'
import { withHostNetwork } from '../../src/network/netlink/host-network.ts'
import { PluginWatch } from '../../src/runtime/network/plugins/plugin-watch.ts'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { PluginLab, type PluginResult } from './plugin-lab.ts'

await inNamespaces(import.meta.filename, () => {
  const lab = new PluginLab()
  test('results, addresses and routes equal those of the plug-ins bridge and host-local', (t) => equalResults(t, lab))
  test('host-local of Debian and our pool share a directory', (t) => sharedDirectory(t, lab))
  test('pods reach each other, themselves and the host, and host ports reach pods', (t) => reachability(t, lab))
  test('GC removes pods that the runtime does not know', (t) => collection(t, lab))
  test('an address that another host on the bridge has is not given', (t) => conflicts(t, lab))
  test('addresses that cannot be probed count as free, with a reason', unprobed)
  test('a pod announces its addresses to the bridge', (t) => announcement(t, lab))
  test('the address of a pod is defended against another host, by its record', (t) => defence(t, lab))
  test('wrong calls are errors of the protocol', (t) => wrongCalls(t, lab))
})

async function equalResults(t: TestContext, lab: PluginLab): Promise<void> {
  const [theirs, own] = [lab.pod(t, 'a1'), lab.pod(t, 'a2')]
  const expected = lab.debians('bridge', 'ADD', theirs, lab.configOf('br-a', ['10.61.0.0/24', 'fd61::/64']))
  const actual = await lab.ours('ADD', own, lab.configOf('br-b', ['10.61.0.0/24', 'fd61::/64']))
  const anonymous = (result: PluginResult, id: string): string =>
    JSON.stringify(result)
      .replaceAll(/"mac":"[0-9a-f:]{17}"/g, '"mac"')
      .replaceAll(/veth[0-9a-f]+/g, 'veth')
      .replaceAll(/br-[ab]/g, 'br')
      .replaceAll(join(lab.folder, id), 'namespace')
  const sorted = (text: string): object => JSON.parse(text.replaceAll('"mac"', '"mac":0')) as object
  assert.deepEqual(sorted(anonymous(actual, own)), sorted(anonymous(expected, theirs)))
  const stable = (text: string): string[] =>
    text
      .split('\n')
      .filter((line) => !/^fe80|^multicast|proto kernel/.test(line))
      .map((line) => line.replace(/ proto \w+/, '').trim())
  for (const family of ['-4', '-6'])
    assert.deepEqual(
      stable(lab.inside(own, 'ip', family, 'route').output),
      stable(lab.inside(theirs, 'ip', family, 'route').output),
    )
  assert.equal(
    readFileSync(join(lab.folder, 'networks/br-b/10.61.0.2'), 'utf8').replace(own, theirs),
    readFileSync(join(lab.folder, 'networks/br-a/10.61.0.2'), 'utf8'),
  )
  lab.debians('bridge', 'DEL', theirs, lab.configOf('br-a', ['10.61.0.0/24', 'fd61::/64']))
  await lab.ours('DEL', own, lab.configOf('br-b', ['10.61.0.0/24', 'fd61::/64']))
  assert.deepEqual(
    readdirSync(join(lab.folder, 'networks/br-b')).sort(),
    readdirSync(join(lab.folder, 'networks/br-a')).sort(),
  )
}

async function sharedDirectory(t: TestContext, lab: PluginLab): Promise<void> {
  const config = lab.configOf('br-c', ['10.62.0.0/29'])
  for (const id of ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']) lab.pod(t, id)
  const addressOf = ({ ips }: PluginResult): string => ips[0]!.address
  assert.equal(addressOf(await lab.ours('ADD', 'c1', config)), '10.62.0.2/29')
  assert.equal(addressOf(lab.debians('bridge', 'ADD', 'c2', config)), '10.62.0.3/29')
  assert.equal(addressOf(await lab.ours('ADD', 'c3', config)), '10.62.0.4/29')
  await lab.ours('DEL', 'c1', config)
  // A free address is used again only when all others were.
  assert.equal(addressOf(await lab.ours('ADD', 'c4', config)), '10.62.0.5/29')
  assert.equal(addressOf(lab.debians('bridge', 'ADD', 'c5', config)), '10.62.0.6/29')
  assert.equal(addressOf(await lab.ours('ADD', 'c1', config)), '10.62.0.2/29')
  const full = await lab.ours('ADD', 'c6', config)
  assert.equal(full.code, 100)
  assert.match(full.msg!, /failed to allocate for range 0: no IP addresses available in range set: 10\.62\.0\.1-10\./)
  assert.doesNotMatch(lab.inside('c6', 'ip', 'link').output, /eth0/)
}

async function reachability(t: TestContext, lab: PluginLab): Promise<void> {
  const ports = [{ hostPort: 8081, containerPort: 80, protocol: 'TCP' }]
  const plain = lab.configOf('br-d', ['10.63.0.0/24', 'fd63::/64'])
  const exposed = lab.configOf('br-d', ['10.63.0.0/24', 'fd63::/64'], { runtimeConfig: { portMappings: ports } })
  const [server, client] = [lab.pod(t, 'd1'), lab.pod(t, 'd2')]
  const { ips } = await lab.ours('ADD', server, exposed)
  await lab.ours('ADD', client, plain)
  await lab.serve(t, server, 80, 'hello')
  const [address, address6] = ips.map((one) => one.address.split('/')[0]!)
  const clientSide = ['nsenter', `--net=${join(lab.folder, client)}`]
  const serverSide = ['nsenter', `--net=${join(lab.folder, server)}`]
  await lab.fetchFrom(clientSide, address!, 80)
  await lab.fetchFrom(clientSide, address6!, 80)
  // The host's addresses: the bridge, and the loopback.
  await lab.fetchFrom(clientSide, '10.63.0.1', 8081)
  await lab.fetchFrom(serverSide, '10.63.0.1', 8081)
  await lab.fetchFrom(['env'], '10.63.0.1', 8081)
  await lab.fetchFrom(['env'], '127.0.0.1', 8081)

  const taken = await lab.ours('ADD', lab.pod(t, 'd3'), exposed)
  assert.equal(taken.msg, 'host port 8081/tcp is in use by the pod sandbox d1')
  await lab.ours('CHECK', server, { ...exposed, prevResult: {} })
  lab.inside(server, 'ip', 'address', 'flush', 'dev', 'eth0')
  const broken = await lab.ours('CHECK', server, { ...exposed, prevResult: {} })
  assert.equal(broken.msg, `the interface eth0 of the pod has lost the address ${address}`)
  await lab.ours('DEL', server, exposed)
  await lab.ours('DEL', server, exposed)
  const rules = spawnSync('nft', ['list', 'table', 'inet', 't8s_pods_br_d'], { encoding: 'utf8' }).stdout
  assert.doesNotMatch(rules, /8081/)
}

async function collection(t: TestContext, lab: PluginLab): Promise<void> {
  const config = { ...lab.configOf('br-e', ['10.64.0.0/24']), cniVersion: '1.1.0' }
  for (const id of ['e1', 'e2']) await lab.ours('ADD', lab.pod(t, id), config)
  const valid = [{ containerID: 'e2', ifname: 'eth0' }]
  await lab.ours('GC', '', { ...config, 'cni.dev/valid-attachments': valid })
  assert.doesNotMatch(lab.inside('e1', 'ip', 'link').output, /eth0/)
  assert.match(lab.inside('e2', 'ip', 'link').output, /eth0/)
  assert.ok(!existsSync(join(lab.folder, 'networks/br-e/10.64.0.2')))
  assert.deepEqual(await lab.ours('STATUS', '', config), {})
}

const stranger = '12:07:6b:be:20:d2'

async function conflicts(t: TestContext, lab: PluginLab): Promise<void> {
  const config = lab.configOf('br-g', ['10.66.0.0/24', 'fd66::/64'])
  const addressesOf = ({ ips }: PluginResult): string[] => ips.map(({ address }) => address)
  assert.deepEqual(addressesOf(await lab.ours('ADD', lab.pod(t, 'g1'), config)), ['10.66.0.2/24', 'fd66::2/64'])
  lab.host(t, 'g-stranger', 'br-g', stranger, ['10.66.0.3/24', 'fd66::4/64'])
  // Each family goes on by itself, so that the pod leaves out one address of each.
  assert.deepEqual(addressesOf(await lab.ours('ADD', lab.pod(t, 'g2'), config)), ['10.66.0.4/24', 'fd66::3/64'])
  assert.deepEqual(addressesOf(await lab.ours('ADD', lab.pod(t, 'g3'), config)), ['10.66.0.5/24', 'fd66::5/64'])
  assert.deepEqual(
    readdirSync(join(lab.folder, 'networks/br-g')).filter((name) => name.startsWith('10.66.0.3')),
    [],
  )
  const wanted = { ...config, runtimeConfig: { ips: ['10.66.0.3'] } }
  const refused = await lab.ours('ADD', lab.pod(t, 'g4'), wanted)
  assert.equal(refused.msg, `the requested address 10.66.0.3 is in use by ${stranger} on br-g`)
  assert.doesNotMatch(lab.inside('g4', 'ip', 'link').output, /eth0/)
}

function unprobed(): void {
  const problems: string[] = []
  const check = new AddressCheck(systemCalls(), (message) => problems.push(message))
  const missing = { index: 999_999, address: stranger }
  assert.deepEqual(check.probe(missing, ['10.66.0.3'])(), [])
  assert.match(problems[0] ?? '', /^addresses are not probed: bind: .*ENODEV/)
}

async function announcement(t: TestContext, lab: PluginLab): Promise<void> {
  const config = lab.configOf('br-h', ['10.67.0.0/24', 'fd67::/64'])
  await lab.ours('ADD', lab.pod(t, 'h1'), config)
  const calls = systemCalls()
  const bridge = withHostNetwork(calls, undefined, ({ links }) => links.find('br-h'))
  const socket = PacketSocket.open({ calls, link: bridge!.index, filter: neighbourFilter() })
  t.after(() => socket.close())
  await lab.ours('ADD', lab.pod(t, 'h2'), config)
  const announced = new Set<string>()
  await waitFor('announcements of both addresses', () => {
    for (let frame = socket.receive(); frame; frame = socket.receive()) {
      const { address, hardware } = (frame.isOutgoing ? undefined : claimOf(frame.bytes)) ?? {}
      if (hardware === '0a:58:0a:43:00:03') announced.add(`${address}`)
    }
    return announced.has('10.67.0.3') && announced.has('fd67::3')
  })
}

async function defence(t: TestContext, lab: PluginLab): Promise<void> {
  const config = lab.configOf('br-i', ['10.68.0.0/24'])
  await lab.ours('ADD', lab.pod(t, 'i1'), config)
  const found: string[] = []
  const watch = new PluginWatch({ onConflict: ({ uid }, message) => found.push(`${uid}: ${message}`), log: () => {} })
  t.after(() => watch.close())
  await watch.update()
  lab.host(t, 'i-other', 'br-i', stranger, ['10.68.0.2/24'])
  const calls = systemCalls()
  const namespace = join(lab.folder, 'i-other')
  const socket = PacketSocket.open({ calls, namespace, filter: neighbourFilter() })
  t.after(() => socket.close())
  await waitFor('a conflict', () => {
    lab.inside('i-other', 'arping', '-q', '-c', '1', '-w', '1', '-i', 'i-other1', '-U', '-S', '10.68.0.2', '10.68.0.2')
    return found.length > 0
  })
  assert.match(found[0] ?? '', new RegExp(`^uid-i1: The host ${stranger} on br-i uses the address 10.68.0.2 of this`))
  const received: string[] = []
  for (let frame = socket.receive(); frame; frame = socket.receive())
    if (!frame.isOutgoing) received.push(claimOf(frame.bytes)?.hardware ?? '')
  assert.ok(received.includes('0a:58:0a:44:00:02'), received.join())
}

async function wrongCalls(_: TestContext, lab: PluginLab): Promise<void> {
  const config = lab.configOf('br-f', ['10.65.0.0/24'])
  const errorOf = async (command: string, id: string, wrong: object): Promise<unknown[]> => {
    const { code, msg } = await lab.ours(command, id, wrong)
    return [code, msg]
  }
  assert.deepEqual(await errorOf('FLY', 'f1', config), [4, 'unknown CNI_COMMAND: FLY'])
  assert.deepEqual(await errorOf('ADD', 'f1', config), [
    3,
    `the network namespace CNI_NETNS=${join(lab.folder, 'f1')} does not exist`,
  ])
  assert.deepEqual(await errorOf('DEL', '../f1', config), [4, 'CNI_CONTAINERID="../f1" is not valid'])
  assert.equal((await lab.ours('ADD', 'f1', { ...config, cniVersion: '9.0.0' })).code, 1)
  assert.deepEqual(await errorOf('ADD', 'f1', { ...config, ipam: { ranges: [[{ subnet: '10.0.0.0/31' }]] } }), [
    7,
    'ipam: subnet 10.0.0.0/31 is too small: it has no address for a pod',
  ])
  const version = await lab.ours('VERSION', '', {})
  assert.equal(version.cniVersion, '1.1.0')
}
