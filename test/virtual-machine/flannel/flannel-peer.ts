/**
 * A node in the network namespace of the process, without a cluster: `OWN PEERS`. The node N has the subnet
 * 10.244.N.0/24; peers are numbers such as `2,3`. A line of the input is a Backend of `net-conf.json`, or `stop`, after
 * which the next one may come: a start of Node takes seconds in the machine.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { systemCalls } from '../../../src/lib/linux/system-calls.ts'
import type { BackendContext, BackendNetwork } from '../../../src/network/flannel/backends/backend.ts'
import { backendOf } from '../../../src/network/flannel/backends/registry.ts'
import { parseNetworkConfig } from '../../../src/network/flannel/config/network-config.ts'
import { findInterface } from '../../../src/network/flannel/interface/find-interface.ts'
import type { Lease, LeaseAttributes } from '../../../src/network/flannel/subnets/subnet-manager.ts'
import { withHostNetwork } from '../../../src/network/netlink/host-network.ts'

const [own = '', peers = ''] = process.argv.slice(2)
const calls = systemCalls()

/** Leases are files. */
const fileOf = (type: string, number: string): string => `/tmp/lease-${type}-${number}.json`

async function leaseOf(type: string, number: string): Promise<Lease> {
  const file = fileOf(type, number)
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await delay(50)
  return JSON.parse(readFileSync(file, 'utf8')) as Lease
}

async function connect(backend: string, signal: AbortSignal): Promise<BackendNetwork> {
  const config = parseNetworkConfig(`{ "Network": "10.244.0.0/16", "Backend": ${backend} }`)
  const type = config.backendType
  const external = withHostNetwork(calls, undefined, (host) =>
    findInterface(
      host,
      { names: ['eth0'], patterns: [], canReach: undefined, publicIP: undefined, publicIPv6: undefined },
      config,
    ),
  )
  const subnets: BackendContext['subnets'] = {
    acquireLease: async (attributes: LeaseAttributes) => {
      const lease: Lease = { node: own, subnet: `10.244.${own}.0/24`, ipv6Subnet: undefined, attributes }
      writeFileSync(fileOf(type, own), JSON.stringify(lease))
      return lease
    },
    storedNode: async () => ({}),
    recordEvent: () => {},
  }
  const network = await (await backendOf(type)).register({
    ...{ config, external, subnets, calls, random: randomBytes, signal },
    environment: { ...process.env, WIREGUARD_KEY_FILE: `/tmp/key-${own}` },
    log: (line) => console.log(line),
  })
  const leases = await Promise.all(peers.split(',').map((peer) => leaseOf(type, peer)))
  await network.apply({ leases, added: leases, changed: [], removed: [] })
  console.log(`applied, MTU ${network.mtu}`)
  // A second look finds nothing to do.
  await network.restore()
  console.log('restored')
  return network
}

/** Restores the network each second until it is stopped. */
async function keep(network: BackendNetwork, signal: AbortSignal): Promise<void> {
  for (;;) {
    await delay(1000, undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    try {
      await network.restore()
    } catch (error) {
      console.log(String(error))
    }
  }
  await network.stop()
}

let stopping = new AbortController()
let kept: Promise<void> | undefined
for await (const line of createInterface({ input: process.stdin }))
  if (line === 'stop') {
    stopping.abort()
    await kept
    console.log('stopped')
  } else {
    stopping = new AbortController()
    kept = keep(await connect(line, stopping.signal), stopping.signal)
  }
process.exit()
