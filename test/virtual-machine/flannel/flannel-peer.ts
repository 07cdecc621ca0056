/**
 * A node of a backend in the network namespace of the process, without a cluster: `TYPE OWN PEER BACKEND`. The nodes 1
 * and 2 have the subnets 10.244.1.0/24 and 10.244.2.0/24.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { systemCalls } from '../../../src/lib/linux/system-calls.ts'
import type { BackendContext } from '../../../src/network/flannel/backends/backend.ts'
import { backendOf } from '../../../src/network/flannel/backends/registry.ts'
import { parseNetworkConfig } from '../../../src/network/flannel/config/network-config.ts'
import { findInterface } from '../../../src/network/flannel/interface/find-interface.ts'
import type { Lease, LeaseAttributes } from '../../../src/network/flannel/subnets/subnet-manager.ts'
import { withHostNetwork } from '../../../src/network/netlink/host-network.ts'

const [type = '', own = '', peer = '', backend = '{}'] = process.argv.slice(2)
const calls = systemCalls()
const config = parseNetworkConfig(
  JSON.stringify({ Network: '10.244.0.0/16', Backend: { ...JSON.parse(backend), Type: type } }),
)
const external = withHostNetwork(calls, undefined, (host) =>
  findInterface(
    host,
    { names: ['eth0'], patterns: [], canReach: undefined, publicIP: undefined, publicIPv6: undefined },
    config,
  ),
)

const fileOf = (number: string): string => `/tmp/lease-${type}-${number}.json`

/** Leases are files. */
const subnets: BackendContext['subnets'] = {
  acquireLease: async (attributes: LeaseAttributes) => {
    const lease: Lease = { node: own, subnet: `10.244.${own}.0/24`, ipv6Subnet: undefined, attributes }
    writeFileSync(fileOf(own), JSON.stringify(lease))
    return lease
  },
  storedNode: async () => ({}),
  recordEvent: () => {},
}
const network = await (await backendOf(type)).register({
  ...{ config, external, subnets, calls, random: randomBytes, signal: new AbortController().signal },
  environment: { ...process.env, WIREGUARD_KEY_FILE: `/tmp/key-${own}` },
  log: (line) => console.log(line),
})
while (!existsSync(fileOf(peer)) || readFileSync(fileOf(peer), 'utf8') === '') await delay(50)
const lease = JSON.parse(readFileSync(fileOf(peer), 'utf8')) as Lease
await network.apply({ leases: [lease], added: [lease], changed: [], removed: [] })
console.log(`applied, MTU ${network.mtu}`)
// A second look finds nothing to do.
await network.restore()
console.log('restored')
process.once('SIGTERM', () => process.exit())
for (;;) {
  await delay(1000)
  try {
    await network.restore()
  } catch (error) {
    console.log(String(error))
  }
}
