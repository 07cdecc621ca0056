import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SystemCallError } from '../../../../../lib/linux/c-library.ts'
import type { Ipvs } from '../../../../netlink/ipvs/ipvs-socket.ts'
import {
  addressText,
  type FoundServer,
  type ServiceAddress,
  serviceText,
  type VirtualService,
} from '../../../../netlink/ipvs/virtual-service.ts'
import type { WantedService } from '../wanted/service-objects.ts'
import { VirtualServers } from './virtual-servers.ts'

/** IPVS of a kernel in memory, which logs changes. */
class MemoryIpvs implements Ipvs {
  readonly log: string[] = []
  readonly found = new Map<string, { service: VirtualService; servers: Map<string, FoundServer> }>()
  connections = 0

  services = () => [...this.found.values()].map(({ service }) => service)
  service = (address: ServiceAddress) => this.found.get(serviceText(address))?.service
  servers = (address: ServiceAddress) => [...(this.found.get(serviceText(address))?.servers.values() ?? [])]
  setTimeouts = () => {}

  addService(service: VirtualService): void {
    if (service.scheduler === 'best') throw new SystemCallError('add the virtual service', 2)
    this.log.push(`add ${service.address}`)
    this.found.set(serviceText(service), { service, servers: new Map() })
  }

  changeService(service: VirtualService): void {
    this.log.push(`change ${service.address}`)
    this.found.get(serviceText(service))!.service = service
  }

  removeService(address: ServiceAddress): void {
    this.log.push(`remove ${address.address}`)
    this.found.delete(serviceText(address))
  }

  addServer(address: ServiceAddress, server: FoundServer | Omit<FoundServer, 'connections'>): void {
    this.log.push(`add server ${server.address}`)
    this.#set(address, server)
  }

  changeServer(address: ServiceAddress, server: FoundServer | Omit<FoundServer, 'connections'>): void {
    this.log.push(`weight ${server.weight} ${server.address}`)
    this.#set(address, server)
  }

  removeServer(address: ServiceAddress, server: Pick<FoundServer, 'address' | 'port'>): void {
    this.log.push(`remove server ${server.address}`)
    this.found.get(serviceText(address))!.servers.delete(addressText(server))
  }

  #set(address: ServiceAddress, server: Omit<FoundServer, 'connections'>): void {
    const { connections } = this
    this.found.get(serviceText(address))!.servers.set(addressText(server), { ...server, connections })
  }
}

function setUp() {
  const ipvs = new MemoryIpvs()
  const timers: { readonly callback: () => void; readonly ms: number }[] = []
  const servers = new VirtualServers({
    withIpvs: (use) => use(ipvs),
    schedule: (callback, ms) => {
      timers.push({ callback, ms })
      return () => timers.splice(0)
    },
    log: () => {},
  })
  const logged = (): string[] => ipvs.log.splice(0)
  return { ipvs, timers, servers, logged }
}

const wanted = (endpoints: readonly string[], rest: Partial<WantedService> = {}): WantedService => ({
  ...{ protocol: 'TCP', address: '10.96.0.7', port: 80, scheduler: 'rr' },
  ...{ persistenceSeconds: undefined, hashesPorts: false },
  endpoints: endpoints.map((address) => ({ address, port: 8080 })),
  ...rest,
})

test('changes only what differs', () => {
  const { servers, logged } = setUp()
  servers.change([wanted(['a', 'b'])], [])
  assert.deepEqual(logged(), ['add 10.96.0.7', 'add server a', 'add server b'])
  servers.change([wanted(['a', 'b'])], [])
  assert.deepEqual(logged(), [])
  servers.change([wanted(['b', 'c'], { persistenceSeconds: 10 })], [])
  assert.deepEqual(logged(), ['change 10.96.0.7', 'add server c', 'remove server a'])
  servers.change([], [wanted([])])
  assert.deepEqual(logged(), ['remove 10.96.0.7'])
})

test('a server with connections leaves when the last one has ended', () => {
  const { ipvs, timers, servers, logged } = setUp()
  ipvs.connections = 2
  servers.change([wanted(['a', 'b'])], [])
  logged()
  servers.change([wanted(['b'])], [])
  assert.deepEqual(logged(), ['weight 0 a'])
  assert.equal(timers[0]?.ms, 60_000)
  timers.shift()!.callback()
  assert.deepEqual(logged(), [])
  ipvs.connections = 0
  ipvs.changeServer(wanted([]), { address: 'a', port: 8080, weight: 0 })
  logged()
  timers.shift()!.callback()
  assert.deepEqual(logged(), ['remove server a'])
  assert.deepEqual(timers, [])
})

test('a server that comes back gets connections, and does not leave', () => {
  const { ipvs, timers, servers, logged } = setUp()
  ipvs.connections = 1
  servers.change([wanted(['a'])], [])
  servers.change([wanted([])], [])
  servers.change([wanted(['a'])], [])
  assert.deepEqual(logged().slice(2), ['weight 0 a', 'weight 1 a'])
  timers.shift()!.callback()
  assert.deepEqual(logged(), [])
})

test('UDP servers leave immediately', () => {
  const { ipvs, servers, logged } = setUp()
  ipvs.connections = 1
  servers.change([wanted(['a'], { protocol: 'UDP' })], [])
  servers.change([wanted([], { protocol: 'UDP' })], [])
  assert.deepEqual(logged().slice(2), ['remove server a'])
})

test('a sync of all removes own virtual services, and leaves others alone', () => {
  const { ipvs, servers, logged } = setUp()
  ipvs.addService(wanted([], { address: '10.96.0.8' }))
  ipvs.addService(wanted([], { address: '203.0.113.1' }))
  logged()
  const service = wanted(['a'])
  servers.replaceAll(new Map([[serviceText(service), service]]), ({ address }) => address.startsWith('10.'))
  assert.deepEqual(logged(), ['add 10.96.0.7', 'add server a', 'remove 10.96.0.8'])
})

test('a scheduler that the kernel lacks is named with its module', () => {
  const { servers } = setUp()
  assert.throws(
    () => servers.change([wanted([], { scheduler: 'best' })], []),
    /`modprobe ip_vs_best`.*--ipvs-scheduler/,
  )
})
