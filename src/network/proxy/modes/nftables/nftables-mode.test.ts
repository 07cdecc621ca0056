import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EndpointSlice, Service } from '../../../../client/kinds.ts'
import type { Command } from '../../../netlink/nftables/commands.ts'
import type { FoundSet, Table } from '../../../netlink/nftables/table-socket.ts'
import { PictureOfServices } from '../../picture/service-picture.ts'
import type { ModeOptions } from '../mode-options.ts'
import { NftablesMode } from './nftables-mode.ts'

/** A table that records the commands of each transaction. */
class RecordedTable implements Table {
  readonly transactions: string[][] = []
  foundChains: readonly string[] = []
  foundSets: readonly FoundSet[] = []
  error: Error | undefined

  change(commands: readonly Command[]): void {
    if (this.error) throw this.error
    if (commands.length > 0) this.transactions.push(commands.map(({ text }) => text))
  }

  chains = (): string[] => [...this.foundChains]
  sets = (): FoundSet[] => [...this.foundSets]
  hasRules = (): boolean => true
}

function lab(options: Partial<ModeOptions> = {}) {
  let now = 0
  const table = new RecordedTable()
  const services = new PictureOfServices(options.family ?? 4, { node: 'node-1', zone: '' })
  const mode = new NftablesMode(
    {
      family: 4,
      node: 'node-1',
      nodePortAddresses: () => ({ isAll: false, addresses: ['192.0.2.1', '127.0.0.1'] }),
      nodeAddress: '192.0.2.1',
      localTraffic: { kind: 'cidrs', cidrs: ['10.0.0.0/8'] },
      masqueradeAll: false,
      masqueradeBit: 14,
      serviceCidrs: () => ['172.30.0.0/16'],
      localhostNodePorts: false,
      servedInterfaces: undefined,
      instance: undefined,
      runProgram: () => Promise.reject(new Error('no program is needed')),
      log: () => {},
      now: () => now,
      ...options,
    },
    table,
  )
  /** Syncs; returns the commands of its transactions. */
  const sync = async (changed: ReadonlySet<string> | 'all' = services.update()): Promise<string[]> => {
    services.update()
    table.transactions.length = 0
    await mode.sync(services.picture, changed)
    return table.transactions.flat()
  }
  return { table, services, mode, sync, wait: (ms: number) => (now += ms) }
}

const service = (spec: Service['spec'] = {}, ip?: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'ns1', name: 'svc1' },
  spec: { clusterIP: '172.30.0.41', ports: [{ name: 'p80', port: 80, protocol: 'TCP' }], ...spec },
  ...(ip !== undefined && { status: { loadBalancer: { ingress: [{ ip }] } } }),
})

const slice = (addresses: readonly string[], nodeName = 'node-1', protocol = 'TCP'): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  addressType: addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
  metadata: { namespace: 'ns1', name: 'svc1-a', labels: { 'kubernetes.io/service-name': 'svc1' } },
  ports: [{ name: 'p80', port: 80, protocol }],
  endpoints: addresses.map((address) => ({ addresses: [address], nodeName, conditions: { ready: true } })),
})

/** The commands of a first sync that concern the Service. */
async function commandsOf(object: Service, endpoints: EndpointSlice, options: Partial<ModeOptions> = {}) {
  const { services, sync } = lab(options)
  services.setService(object, undefined)
  services.setSlice(endpoints, undefined)
  const commands = await sync('all')
  return commands.filter((command) => /ns1|172\.30\.0\.41|10\.180|nodeports \{ \w+ \./.test(command))
}

const chain = 'ULMVA6XW-ns1/svc1/tcp/p80'

describe('the mode nftables', () => {
  test('balances a cluster IP', async () => {
    assert.deepEqual(await commandsOf(service(), slice(['10.180.0.1', '10.180.0.2'])), [
      `add chain service-${chain}`,
      `flush chain service-${chain}`,
      `add rule service-${chain} numgen random mod 2 0 meta l4proto tcp dnat to 10.180.0.1:80`,
      `add rule service-${chain} meta l4proto tcp dnat to 10.180.0.2:80`,
      'add element cluster-ips { 172.30.0.41 }',
      `add element service-ips { 172.30.0.41 . tcp . 80 : goto service-${chain} }`,
      'add element hairpin-connections { 10.180.0.1 . 10.180.0.1 . tcp . 80, 10.180.0.2 . 10.180.0.2 . tcp . 80 }',
    ])
  })

  test('chooses among many endpoints by a map', async () => {
    const addresses = Array.from({ length: 17 }, (_, i) => `10.180.1.${i + 10}`)
    const commands = await commandsOf(service(), slice(addresses))
    assert.match(
      commands.find((command) => command.startsWith('add rule')) ?? '',
      /tcp dnat ip to numgen random mod 17 map \{ 0 : 10\.180\.1\.10 \. 80, .*, 16 : 10\.180\.1\.26 \. 80 \}$/,
    )
  })

  test('serves node ports, balancers and external IPs with local endpoints, and checks source ranges', async () => {
    const spec = {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      loadBalancerSourceRanges: ['203.0.113.0/25', '192.0.2.0/24'],
      externalIPs: ['198.51.100.1'],
      ports: [{ name: 'p80', port: 80, nodePort: 3001, protocol: 'TCP' as const }],
    }
    const commands = await commandsOf(service(spec, '5.6.7.8'), slice(['10.180.0.1'], 'node-2'))
    assert.deepEqual(
      commands.filter((command) => !command.includes('chain service-') && !/^(add|flush) chain/.test(command)),
      [
        `add rule service-${chain} meta l4proto tcp dnat to 10.180.0.1:80`,
        // The node itself is in a range, and may use the balancer's address as the source.
        `add rule firewall-${chain} ip saddr != { 203.0.113.0/25, 192.0.2.0/24, 5.6.7.8/32 } drop`,
        `add rule external-${chain} ip saddr 10.0.0.0/8 goto service-${chain} comment "short-circuit pod traffic"`,
        `add rule external-${chain} fib saddr type local meta mark set meta mark | 0x00004000 ` +
          'comment "masquerade local traffic"',
        `add rule external-${chain} fib saddr type local goto service-${chain} comment "short-circuit local traffic"`,
        'add element cluster-ips { 172.30.0.41 }',
        `add element service-ips { 172.30.0.41 . tcp . 80 : goto service-${chain}, ` +
          `198.51.100.1 . tcp . 80 : goto external-${chain}, 5.6.7.8 . tcp . 80 : goto external-${chain} }`,
        'add element no-endpoint-services { 198.51.100.1 . tcp . 80 comment "ns1/svc1:p80" : drop, ' +
          '5.6.7.8 . tcp . 80 comment "ns1/svc1:p80" : drop }',
        `add element firewall-ips { 5.6.7.8 . tcp . 80 comment "ns1/svc1:p80" : goto firewall-${chain} }`,
        `add element service-nodeports { tcp . 3001 : goto external-${chain} }`,
        'add element no-endpoint-nodeports { tcp . 3001 comment "ns1/svc1:p80" : drop }',
        'add element hairpin-connections { 10.180.0.1 . 10.180.0.1 . tcp . 80 }',
      ],
    )
  })

  test('rejects connections to a Service without endpoints, and shortens its comment', async () => {
    const name = 's'.repeat(63)
    const object = { ...service(), metadata: { namespace: `ns1${'n'.repeat(60)}`, name } }
    const commands = await commandsOf(object, slice([]))
    const found = commands.find((command) => command.startsWith('add element no-endpoint-services')) ?? ''
    assert.match(found, /172\.30\.0\.41 \. tcp \. 80 comment "ns1n+\/s+" : goto reject-chain/)
    assert.ok((/"(.*)"/.exec(found)?.[1]?.length ?? 0) <= 127)
  })

  test('remembers the client of an endpoint with affinity, for each port', async () => {
    const spec = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }
    const commands = await commandsOf(service(spec), slice(['10.180.0.1', '10.180.0.2']))
    const [one, two] = ['5OJB2KTY', 'XGJFVO3L'].map((hash, i) => `${hash}-ns1/svc1/tcp/p80__10.180.0.${i + 1}/80`)
    const rules = commands.filter((command) => /^add (rule|set)/.test(command))
    assert.deepEqual(
      rules.map((rule) => rule.replaceAll(/[A-Z2-7]{8}(-ns1\/svc1\/tcp\/p80__10\.180\.0\.2\/80)/g, 'XGJFVO3L$1')),
      [
        `add set affinity-${one} { type ipv4_addr ; flags dynamic,timeout ; timeout 60s ; }`,
        `add set affinity-${two} { type ipv4_addr ; flags dynamic,timeout ; timeout 60s ; }`,
        `add rule service-${chain} ip saddr @affinity-${one} goto endpoint-${one}`,
        `add rule service-${chain} ip saddr @affinity-${two} goto endpoint-${two}`,
        `add rule service-${chain} numgen random mod 2 0 goto endpoint-${one}`,
        `add rule service-${chain} goto endpoint-${two}`,
        `add rule endpoint-${one} update @affinity-${one} { ip saddr }`,
        `add rule endpoint-${one} meta l4proto tcp dnat to 10.180.0.1:80`,
        `add rule endpoint-${two} update @affinity-${two} { ip saddr }`,
        `add rule endpoint-${two} meta l4proto tcp dnat to 10.180.0.2:80`,
      ],
    )
  })

  test('serves SCTP and IPv6', async () => {
    const ports = [{ name: 'p80', port: 80, protocol: 'SCTP' as const }]
    const commands = await commandsOf(
      service({ clusterIP: 'fd00:96::1', ports }),
      slice(['fd00:10::1'], 'node-1', 'SCTP'),
      { family: 6 },
    )
    assert.match(
      commands.join('\n'),
      /add rule service-\S+-ns1\/svc1\/sctp\/p80 meta l4proto sctp dnat to \[fd00:10::1\]:80/,
    )
    assert.match(commands.join('\n'), /fd00:96::1 \. sctp \. 80 : goto service-/)
  })

  test('changes only what is different, and nothing if nothing is', async () => {
    const { services, sync, wait } = lab()
    services.setService(service(), undefined)
    services.setSlice(slice(['10.180.0.1']), undefined)
    await sync('all')
    services.setService(service(), service())
    assert.deepEqual(await sync(), [])
    services.setSlice(slice(['10.180.0.2']), slice(['10.180.0.1']))
    assert.deepEqual(await sync(), [
      `flush chain service-${chain}`,
      `add rule service-${chain} meta l4proto tcp dnat to 10.180.0.2:80`,
      'delete element hairpin-connections { 10.180.0.1 . 10.180.0.1 . tcp . 80 }',
      'add element hairpin-connections { 10.180.0.2 . 10.180.0.2 . tcp . 80 }',
    ])
    services.setSlice(slice([]), slice(['10.180.0.2']))
    assert.deepEqual(await sync(), [
      `flush chain service-${chain}`,
      'delete element service-ips { 172.30.0.41 . tcp . 80 }',
      'delete element hairpin-connections { 10.180.0.2 . 10.180.0.2 . tcp . 80 }',
      'add element no-endpoint-services { 172.30.0.41 . tcp . 80 comment "ns1/svc1:p80" : goto reject-chain }',
    ])
    wait(1000)
    assert.deepEqual(await sync(), [`delete chain service-${chain}`])
  })

  test('keeps an element that two Services have until the last one is deleted', async () => {
    const { services, sync } = lab()
    const other = { ...service({ clusterIP: '172.30.0.42' }), metadata: { namespace: 'ns1', name: 'svc2' } }
    const labels = { 'kubernetes.io/service-name': 'svc2' }
    const otherSlice = { ...slice(['10.180.0.1']), metadata: { namespace: 'ns1', name: 'svc2-a', labels } }
    services.setService(service(), undefined)
    services.setSlice(slice(['10.180.0.1']), undefined)
    services.setService(other, undefined)
    services.setSlice(otherSlice, undefined)
    await sync('all')
    const hairpin = 'delete element hairpin-connections { 10.180.0.1 . 10.180.0.1 . tcp . 80 }'
    services.setService(undefined, service())
    assert.ok(!(await sync()).includes(hairpin))
    services.setService(undefined, other)
    assert.ok((await sync()).includes(hairpin))
  })

  test('rebuilds the table after a failure, without what an earlier process left', async () => {
    const { table, services, sync, wait } = lab()
    table.foundChains = ['nat-prerouting', 'services', 'service-OLDOLDOL-ns/old/tcp/']
    table.foundSets = [
      { name: 'service-ips', timeoutSeconds: 0 },
      { name: 'affinity-OLDOLDOL-ns/old/tcp/__10.1.0.1/80', timeoutSeconds: 60 },
    ]
    const isReset = (commands: readonly string[]): void =>
      assert.deepEqual(commands.slice(0, 5), [
        'add table { comment "rules for kube-proxy" ; }',
        'flush table',
        'delete set service-ips',
        'delete set affinity-OLDOLDOL-ns/old/tcp/__10.1.0.1/80',
        'delete chain nat-prerouting',
      ])
    isReset(await sync('all'))
    wait(1000)
    assert.deepEqual(await sync(new Set()), ['delete chain service-OLDOLDOL-ns/old/tcp/'])
    services.setService(service(), undefined)
    table.error = new Error('the kernel refuses')
    await assert.rejects(sync(), /the kernel refuses/)
    table.error = undefined
    isReset(await sync(new Set()))
  })

  test('masquerades all connections to cluster IPs if it is asked to', async () => {
    const { sync } = lab({ masqueradeAll: true, servedInterfaces: { ownBridge: 't8s1', bridgePrefix: 't8s' } })
    const commands = (await sync('all')).join('\n')
    assert.match(commands, /add rule services ip daddr @cluster-ips meta mark set meta mark \| 0x00004000 comment/)
    assert.match(commands, /add rule nat-prerouting iifname "t8s\*" iifname != "t8s1" return\nadd rule nat-prer/)
    assert.match(commands, /add element nodeport-ips \{ 192\.0\.2\.1 \}/)
  })
})
