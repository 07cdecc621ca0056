/** The netlink library against the kernel, with `ip` as the peer. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemCalls } from '../../src/lib/linux/system-calls.ts'
import { withHostNetwork } from '../../src/network/netlink/host-network.ts'
import { createNetwork, removeNetwork } from './network-namespaces.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

test('interfaces, addresses and routes are those that ip shows', { skip }, async (t) => {
  const calls = systemCalls()
  const folder = mkdtempSync(join(tmpdir(), 't8s-netlink-'))
  const [host, pod] = [join(folder, 'host'), join(folder, 'pod')]
  for (const network of [host, pod]) createNetwork(network)
  t.after(() => {
    for (const network of [host, pod]) removeNetwork(network)
    rmSync(folder, { recursive: true })
  })
  const ip = (namespace: string, ...args: string[]): string =>
    execFileSync('nsenter', [`--net=${namespace}`, 'ip', ...args], { encoding: 'utf8', stdio: 'pipe' })

  withHostNetwork(calls, host, ({ links, addresses }) => {
    links.addBridge('br0', { mtu: 1400 })
    assert.throws(() => links.addBridge('br0'), { code: 'EEXIST', message: /^create the bridge br0.*EEXIST/ })
    const bridge = links.find('br0')!
    assert.deepEqual([bridge.kind, bridge.mtu, bridge.isUp], ['bridge', 1400, false])
    const namespaceFd = openSync(pod, 'r')
    const peer = { name: 'eth0', namespaceFd, address: '0a:58:0a:01:00:02' }
    links.addVeth({ name: 'veth1', mtu: 1400, peer })
    closeSync(namespaceFd)
    const port = links.find('veth1')!
    links.change(port, { isUp: true, master: bridge.index })
    links.setHairpin(port)
    links.change(bridge, { isUp: true, isPromiscuous: true, address: '0a:58:0a:01:00:01' })
    addresses.add(bridge, '10.1.0.1/24')
    addresses.add(bridge, 'fd00::1/64')
    assert.throws(() => addresses.add(bridge, '10.1.0.1/24'), { code: 'EEXIST' })
    assert.equal(links.find('veth1')!.master, bridge.index)
  })
  assert.match(ip(host, '-d', 'link', 'show', 'veth1'), /mtu 1400.*master br0[\s\S]*bridge_slave[\s\S]*hairpin on/)
  assert.match(
    ip(host, 'address', 'show', 'br0'),
    /PROMISC[\s\S]*0a:58:0a:01:00:01[\s\S]*10\.1\.0\.1\/24[\s\S]*fd00::1\/64/,
  )

  withHostNetwork(calls, pod, ({ links, addresses, routes }) => {
    const [loopback, eth0] = [links.find('lo')!, links.find('eth0')!]
    assert.equal(eth0.address, '0a:58:0a:01:00:02')
    links.change(loopback, { isUp: true })
    links.change(eth0, { isUp: true })
    addresses.add(eth0, '10.1.0.2/24')
    addresses.add(eth0, 'fd00::2/64')
    routes.add(eth0, { destination: '0.0.0.0/0', gateway: '10.1.0.1', link: eth0.index })
    routes.add(eth0, { destination: '10.9.0.0/16', link: eth0.index })
    routes.add(eth0, { destination: '::/0', gateway: 'fd00::1', link: eth0.index })
    const found = routes.list().map(({ destination, gateway }) => `${destination} ${gateway}`)
    for (const route of ['0.0.0.0/0 10.1.0.1', '10.9.0.0/16 undefined', '::/0 fd00::1'])
      assert.ok(found.includes(route))
    routes.remove(eth0, { destination: '10.9.0.0/16', link: eth0.index })
    assert.ok(addresses.list().some(({ address, link }) => address === 'fd00::2/64' && link === eth0.index))
  })
  assert.match(ip(pod, 'route'), /^default via 10\.1\.0\.1 dev eth0 *\n10\.1\.0\.0\/24 dev eth0 /)
  execFileSync('nsenter', [`--net=${pod}`, 'busybox', 'ping', '-c1', '-W5', '10.1.0.1'])
  execFileSync('nsenter', [`--net=${pod}`, 'busybox', 'ping6', '-c1', '-W5', 'fd00::1'])

  withHostNetwork(calls, host, ({ links, addresses }) => {
    const bridge = links.find('br0')!
    addresses.remove(bridge, '10.1.0.1/24')
    links.remove(links.find('veth1')!)
    assert.deepEqual(
      links.list().map(({ name }) => name),
      ['lo', 'br0'],
    )
  })
  assert.doesNotMatch(ip(pod, 'link'), /eth0/)
})

test('what the kernel has learned about the way to an address is no route', { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 't8s-netlink-'))
  const [router, pod] = [join(folder, 'router'), join(folder, 'pod')]
  for (const network of [router, pod]) createNetwork(network)
  t.after(() => {
    for (const network of [router, pod]) removeNetwork(network)
    rmSync(folder, { recursive: true })
  })
  const run = (namespace: string, script: string): string =>
    execFileSync('nsenter', [`--net=${namespace}`, 'sh', '-ec', script], { encoding: 'utf8', stdio: 'pipe' })
  run(
    router,
    `ip link add eth0 type veth peer name eth0 netns ${pod}; ip link add narrow mtu 1280 type bridge
    ip address add 10.1.0.1/24 dev eth0; ip address add 10.2.0.1/24 dev narrow
    ip link set eth0 up; ip link set narrow up; echo 1 >/proc/sys/net/ipv4/ip_forward`,
  )
  run(pod, 'ip address add 10.1.0.2/24 dev eth0; ip link set eth0 up; ip route add default via 10.1.0.1')
  run(pod, 'ping -n -c1 -W1 -M do -s 1350 10.2.0.2 || true')
  assert.match(run(pod, 'ip route get 10.2.0.2'), /cache expires .*mtu 1280/)
  const found = withHostNetwork(systemCalls(), pod, ({ routes }) => routes.list())
  const destinations = found.map(({ destination }) => destination).filter((one) => !one.includes(':'))
  assert.deepEqual(destinations.sort(), ['0.0.0.0/0', '10.1.0.0/24'])
})
