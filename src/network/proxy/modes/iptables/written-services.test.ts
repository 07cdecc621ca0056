import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ProxiedPort } from '../../picture/service-picture.ts'
import { anEndpoint, aPort, someOptions } from './rules/proxied-port.fixture.ts'
import { comment, type RuleOptions } from './rules/rule-options.ts'
import { WrittenServices } from './written-services.ts'

const key = 'default/nginx'
const text = 'default/nginx:http'
const local = '-m addrtype --src-type LOCAL'
const lastRule = comment('kubernetes service nodeports; NOTE: this must be the last rule in this chain')
const [svc, sep] = ['KUBE-SVC-P4Q3KNUAWJVP4ILH', 'KUBE-SEP-GL7IUDQTUTXSADHR']

/** The lines of a table in the first input. */
function written(port: ProxiedPort, table: 'nat' | 'filter', options: Partial<RuleOptions> = {}, saved = ''): string[] {
  const text = new WrittenServices().writeAll(new Map([[key, [port]]]), { ...someOptions, ...options }, saved)
  return text.split(`*${table}\n`)[1]!.split('\nCOMMIT')[0]!.split('\n')
}

/** Those that begin with `-A` and a name that begins so. */
const rulesOf = (lines: readonly string[], ...chains: string[]): string[] =>
  lines.filter((line) => chains.some((chain) => line.startsWith(`-A ${chain}`)))

const http = '-m tcp -p tcp -d 10.96.0.7 --dport 80'
const nodePort = '-m tcp -p tcp --dport 30080'
const two = [anEndpoint('172.17.0.4'), anEndpoint('172.17.0.5')]

describe('the rules of a ClusterIP', () => {
  test('lead from KUBE-SERVICES to an endpoint, line by line', () => {
    assert.deepEqual(written(aPort(), 'nat'), [
      ':KUBE-PROXY-CANARY - [0:0]',
      ':KUBE-SVC-P4Q3KNUAWJVP4ILH - [0:0]',
      ':KUBE-SEP-GL7IUDQTUTXSADHR - [0:0]',
      ':KUBE-SERVICES - [0:0]',
      ':KUBE-NODEPORTS - [0:0]',
      ':KUBE-POSTROUTING - [0:0]',
      ':KUBE-MARK-MASQ - [0:0]',
      '-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN',
      '-A KUBE-POSTROUTING -j MARK --xor-mark 0x4000',
      `-A KUBE-POSTROUTING ${comment('kubernetes service traffic requiring SNAT')} -j MASQUERADE --random-fully`,
      '-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000',
      `-A ${svc} ${comment(`${text} cluster IP`)} ${http} ! -s 172.17.0.0/16 -j KUBE-MARK-MASQ`,
      `-A KUBE-SVC-P4Q3KNUAWJVP4ILH ${comment('default/nginx:http -> 172.17.0.4:80')} -j KUBE-SEP-GL7IUDQTUTXSADHR`,
      '-A KUBE-SEP-GL7IUDQTUTXSADHR -m comment --comment default/nginx:http -s 172.17.0.4 -j KUBE-MARK-MASQ',
      `-A ${sep} -m comment --comment default/nginx:http -m tcp -p tcp -j DNAT --to-destination 172.17.0.4:80`,
      `-A KUBE-SERVICES -m comment --comment "default/nginx:http cluster IP" ${http} -j KUBE-SVC-P4Q3KNUAWJVP4ILH`,
      `-A KUBE-SERVICES ${lastRule} -m addrtype --dst-type LOCAL -j KUBE-NODEPORTS`,
      '-I OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      '-I PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
      '-I POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
    ])
  })

  test('reject connections without endpoints', () => {
    const lines = written(aPort({}, []), 'filter')
    assert.deepEqual(rulesOf(lines, 'KUBE-SERVICES'), [
      `-A KUBE-SERVICES -m comment --comment "default/nginx:http has no endpoints" ${http} -j REJECT`,
    ])
    assert.deepEqual(rulesOf(written(aPort({}, []), 'nat'), 'KUBE-SVC', 'KUBE-SEP'), [])
  })

  test('drop connections with the policy Local without local endpoints', () => {
    const port = aPort({ isInternalLocal: true })
    assert.deepEqual(rulesOf(written(port, 'filter'), 'KUBE-SERVICES'), [
      `-A KUBE-SERVICES -m comment --comment "default/nginx:http has no local endpoints" ${http} -j DROP`,
    ])
  })

  test('select one of n endpoints with the same probability', () => {
    const three = [...two, anEndpoint('172.17.0.6')]
    const probabilities = rulesOf(written(aPort({}, three), 'nat'), 'KUBE-SVC').flatMap(
      (line) => /--probability (\S+)/.exec(line)?.[1] ?? [],
    )
    assert.deepEqual(probabilities, ['0.3333333333', '0.5000000000'])
  })

  test('have no comments at endpoints in large clusters', () => {
    const many = Array.from({ length: 1001 }, (_, index) => anEndpoint(`172.17.${index >> 8}.${index & 255}`))
    const lines = rulesOf(written(aPort({}, many), 'nat'), 'KUBE-SEP')
    assert(lines.every((line) => !line.includes('--comment')))
  })

  test('are those of IPv6', () => {
    const options = { family: 6, localTraffic: { kind: 'bridge', name: 'cni0' }, localhostNodePorts: false } as const
    const lines = written(aPort({ clusterIP: 'fd00::7' }, [anEndpoint('fd00:1::1')]), 'nat', options)
    assert(lines.some((line) => line.endsWith('-j DNAT --to-destination [fd00:1::1]:80')))
    assert(lines.some((line) => line.includes('-d fd00::7 --dport 80 ! -i cni0 -j KUBE-MARK-MASQ')))
    assert(lines.some((line) => line.endsWith('-m addrtype --dst-type LOCAL ! -d ::1/128 -j KUBE-NODEPORTS')))
  })
})

describe('the rules of affinity', () => {
  test('come before those of probability, for two endpoints, line by line', () => {
    const lines = written(aPort({ affinitySeconds: 10_800 }, two), 'nat', { localTraffic: { kind: 'none' } })
    const select = '-A KUBE-SVC-P4Q3KNUAWJVP4ILH -m comment --comment "default/nginx:http ->'
    const first = 'KUBE-SEP-GL7IUDQTUTXSADHR'
    const second = 'KUBE-SEP-VMO3WCKZND6ZICDD'
    const recent = (chain: string): string => `-m recent --name ${chain} --rcheck --seconds 10800 --reap -j ${chain}`
    const of = (chain: string): string => `-A ${chain} -m comment --comment default/nginx:http`
    assert.deepEqual(rulesOf(lines, 'KUBE-SVC', 'KUBE-SEP'), [
      `${select} 172.17.0.4:80" ${recent(first)}`,
      `${select} 172.17.0.5:80" ${recent(second)}`,
      `${select} 172.17.0.4:80" -m statistic --mode random --probability 0.5000000000 -j ${first}`,
      `${select} 172.17.0.5:80" -j ${second}`,
      `${of(first)} -s 172.17.0.4 -j KUBE-MARK-MASQ`,
      `${of(first)} -m recent --name ${first} --set -m tcp -p tcp -j DNAT --to-destination 172.17.0.4:80`,
      `${of(second)} -s 172.17.0.5 -j KUBE-MARK-MASQ`,
      `${of(second)} -m recent --name ${second} --set -m tcp -p tcp -j DNAT --to-destination 172.17.0.5:80`,
    ])
  })
})

describe('the rules of a NodePort', () => {
  const ext = 'KUBE-EXT-P4Q3KNUAWJVP4ILH'

  test('masquerade and use all endpoints, line by line', () => {
    const lines = written(aPort({ nodePort: 30_080 }), 'nat')
    assert.deepEqual(rulesOf(lines, 'KUBE-NODEPORTS', ext), [
      `-A ${ext} ${comment(`masquerade traffic for ${text} external destinations`)} -j KUBE-MARK-MASQ`,
      `-A ${ext} -j KUBE-SVC-P4Q3KNUAWJVP4ILH`,
      `-A KUBE-NODEPORTS -m comment --comment default/nginx:http ${nodePort} -j ${ext}`,
    ])
  })

  test('keep the source with the policy Local, except for pods and the node itself', () => {
    const port = aPort({ nodePort: 30_080, isExternalLocal: true, healthCheckNodePort: 31_000 }, two, [two[0]!])
    const lines = written(port, 'nat')
    assert.deepEqual(rulesOf(lines, ext), [
      `-A ${ext} ${comment(`pod traffic for ${text} external destinations`)} -s 172.17.0.0/16 -j ${svc}`,
      `-A ${ext} ${comment(`masquerade LOCAL traffic for ${text} external destinations`)} ${local} -j KUBE-MARK-MASQ`,
      `-A ${ext} ${comment(`route LOCAL traffic for ${text} external destinations`)} ${local} -j ${svc}`,
      `-A ${ext} -j KUBE-SVL-P4Q3KNUAWJVP4ILH`,
    ])
    assert.deepEqual(rulesOf(written(port, 'filter'), 'KUBE-NODEPORTS'), [
      `-A KUBE-NODEPORTS ${comment('default/nginx:http health check node port')} -m tcp -p tcp --dport 31000 -j ACCEPT`,
    ])
  })

  test('drop connections with the policy Local without local endpoints', () => {
    const port = aPort({ nodePort: 30_080, isExternalLocal: true, externalIPs: ['192.0.2.7'] })
    const drop = '-A KUBE-EXTERNAL-SERVICES -m comment --comment "default/nginx:http has no local endpoints"'
    assert.deepEqual(rulesOf(written(port, 'filter'), 'KUBE-EXTERNAL-SERVICES'), [
      `${drop} -m tcp -p tcp -d 192.0.2.7 --dport 80 -j DROP`,
      `${drop} -m addrtype --dst-type LOCAL ${nodePort} -j DROP`,
    ])
    assert(rulesOf(written(port, 'nat'), ext).every((line) => !line.includes('KUBE-SVL')))
  })

  test('are reached by single addresses, and never by loopback where it cannot work', () => {
    const nodePortAddresses = { isAll: false, addresses: ['127.0.0.1', '192.168.0.2'] }
    const last = (options: Partial<RuleOptions>): string[] =>
      rulesOf(written(aPort(), 'nat', options), 'KUBE-SERVICES')
        .slice(1)
        .map((line) => line.split('" ')[1]!)
    assert.deepEqual(last({ nodePortAddresses, localhostNodePorts: false }), ['-d 192.168.0.2 -j KUBE-NODEPORTS'])
    assert.equal(last({ nodePortAddresses }).length, 2)
    assert.deepEqual(last({ localhostNodePorts: false }), [
      '-m addrtype --dst-type LOCAL ! -d 127.0.0.0/8 -j KUBE-NODEPORTS',
    ])
  })
})

describe('the rules of a load balancer', () => {
  const port = aPort({
    loadBalancerIPs: ['192.0.2.9'],
    loadBalancerSourceRanges: ['198.51.100.0/24', '192.168.0.0/16'],
  })
  const fw = 'KUBE-FW-P4Q3KNUAWJVP4ILH'
  const balancer = '-m tcp -p tcp -d 192.0.2.9 --dport 80'

  test('allow only its source ranges, and the node itself if its address is in one of them', () => {
    const comment = '-m comment --comment "default/nginx:http loadbalancer IP"'
    const allow = (source: string): string => `-A ${fw} ${comment} -s ${source} -j KUBE-EXT-P4Q3KNUAWJVP4ILH`
    assert.deepEqual(rulesOf(written(port, 'nat'), fw), [
      allow('198.51.100.0/24'),
      allow('192.168.0.0/16'),
      allow('192.0.2.9'),
      `-A ${fw} -m comment --comment "other traffic to default/nginx:http will be dropped by KUBE-PROXY-FIREWALL"`,
    ])
    assert.equal(rulesOf(written(port, 'nat'), 'KUBE-SERVICES')[1], `-A KUBE-SERVICES ${comment} ${balancer} -j ${fw}`)
  })

  test('drop other connections in the filter table', () => {
    assert.deepEqual(rulesOf(written(port, 'filter'), 'KUBE-PROXY-FIREWALL'), [
      `-A KUBE-PROXY-FIREWALL ${comment(`default/nginx:http traffic not accepted by ${fw}`)} ${balancer} -j DROP`,
    ])
  })
})

describe('the filter table', () => {
  test('refuses invalid packets, accepts masqueraded ones, and blocks misuse of loopback', () => {
    const lines = written(aPort(), 'filter')
    assert.deepEqual(rulesOf(lines, 'KUBE-FORWARD', 'KUBE-FIREWALL'), [
      `-A KUBE-FIREWALL ${comment('block incoming localnet connections')} -d 127.0.0.0/8 ! -s 127.0.0.0/8` +
        ' -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
      '-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP',
      '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x4000/0x4000 -j ACCEPT',
      `-A KUBE-FORWARD ${comment('kubernetes forwarding conntrack rule')} -m conntrack` +
        ' --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ])
    assert(!written(aPort(), 'filter', { isConntrackLiberal: true }).some((line) => line.includes('INVALID')))
  })

  test('gets jumps only where they are missing', () => {
    const saved =
      '*filter\n:INPUT ACCEPT [0:0]\n:KUBE-FIREWALL - [0:0]\n' +
      `-A INPUT ${comment('kubernetes health check service ports')} -j KUBE-NODEPORTS\n` +
      '-A INPUT -j KUBE-FIREWALL\nCOMMIT\n'
    const inserted = written(aPort(), 'filter', {}, saved).filter((line) => line.startsWith('-I INPUT'))
    assert.deepEqual(
      inserted.map((line) => line.split(' -j ')[1]),
      ['KUBE-EXTERNAL-SERVICES', 'KUBE-PROXY-FIREWALL'],
    )
  })
})

describe('a sync of what changed', () => {
  test('writes only the chains of the Service, if its endpoints change', () => {
    const services = new WrittenServices()
    services.writeAll(new Map([[key, [aPort()]]]), someOptions, '')
    const text = services.writeChanged(new Map([[key, [aPort({}, [anEndpoint('172.17.0.5')])]]]), [key], someOptions)
    assert.deepEqual(
      text.split('\n').filter((line) => !line.startsWith('-A KUBE-S')),
      [
        '*nat',
        ':KUBE-SVC-P4Q3KNUAWJVP4ILH - [0:0]',
        ':KUBE-SEP-VMO3WCKZND6ZICDD - [0:0]',
        ':KUBE-SEP-GL7IUDQTUTXSADHR - [0:0]',
        '-X KUBE-SEP-GL7IUDQTUTXSADHR',
        'COMMIT',
        '',
      ],
    )
  })

  test('moves a Service that loses its endpoints from nat to filter, and deletes it', () => {
    const services = new WrittenServices()
    services.writeAll(new Map([[key, [aPort()]]]), someOptions, '')
    const cluster = `KUBE-SERVICES ${comment('default/nginx:http cluster IP')} ${http} -j KUBE-SVC-P4Q3KNUAWJVP4ILH`
    const reject = `KUBE-SERVICES -m comment --comment "default/nginx:http has no endpoints" ${http} -j REJECT`
    const without = services.writeChanged(new Map([[key, [aPort({}, [])]]]), [key], someOptions)
    assert.match(without, /^\*filter\n-A KUBE-SERVICES .*\nCOMMIT\n\*nat\n/)
    assert(without.includes(`-A ${reject}\n`) && without.includes(`-D ${cluster}\n`))
    assert.equal(services.writeChanged(new Map(), [key], someOptions), `*filter\n-D ${reject}\nCOMMIT\n`)
    assert.equal(services.writeChanged(new Map(), [key], someOptions), '')
    const again = services.writeChanged(new Map([[key, [aPort()]]]), [key], someOptions)
    assert(again.includes(`-I ${cluster}\n`), 'before the rule of node ports')
  })

  test('writes a shared chain as a whole after many changes', () => {
    const services = new WrittenServices()
    services.writeAll(new Map(), someOptions, '')
    const names = Array.from({ length: 101 }, (_, index) => `web-${index}`)
    const picture = new Map(names.map((service) => [`default/${service}`, [aPort({ service })]]))
    const text = services.writeChanged(picture, picture.keys(), someOptions)
    assert.match(text, /^:KUBE-SERVICES /m)
    assert.doesNotMatch(text, /^-[ID] /m)
    assert.match(text, /-j KUBE-NODEPORTS\nCOMMIT\n$/)
  })

  test('deletes chains that an earlier process left, and none of others', () => {
    const saved = '*nat\n:KUBE-SEP-OLD - [0:0]\n:DOCKER - [0:0]\n:KUBE-SVC-P4Q3KNUAWJVP4ILH - [0:0]\nCOMMIT\n'
    const deleted = written(aPort(), 'nat', {}, saved).filter((line) => line.startsWith('-X'))
    assert.deepEqual(deleted, ['-X KUBE-SEP-OLD'])
  })
})
