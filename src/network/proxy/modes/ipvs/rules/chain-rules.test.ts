import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jumps } from '../../iptables/rules/fixed-rules.ts'
import { type ChainOptions, chainRules } from './chain-rules.ts'
import { changeSets, replaceSets, type SetKey, setName } from './ip-sets.ts'
import { chainsText, fullText, removalText } from './rules-text.ts'

const options: ChainOptions = {
  family: 4,
  localTraffic: { kind: 'cidrs', cidrs: ['10.244.0.0/16'] },
  masqueradeAll: false,
  masqueradeMark: '0x4000',
  hasRandomFully: true,
}

const rulesOf = (chain: string, used: readonly SetKey[], more: Partial<ChainOptions> = {}): readonly string[] =>
  chainRules({ ...options, ...more }, (set) => used.includes(set), [])
    .filter((found) => found.chain === chain)
    .flatMap(({ rules }) => rules)

const clusterIpComment = '-m comment --comment "Kubernetes service cluster ip + port for masquerade purpose"'

test('KUBE-SERVICES masquerades cluster IPs by the local traffic', () => {
  const match = '-m set --match-set KUBE-CLUSTER-IP'
  const local = '-m addrtype --dst-type LOCAL -j KUBE-NODE-PORT'
  assert.deepEqual(rulesOf('KUBE-SERVICES', ['clusterIp']), [
    '-s 127.0.0.0/8 -j RETURN',
    `${clusterIpComment} ${match} dst,dst ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ`,
    local,
    `${match} dst,dst -j ACCEPT`,
  ])
  assert.equal(
    rulesOf('KUBE-SERVICES', ['clusterIp'], { localTraffic: { kind: 'none' } })[1],
    `${clusterIpComment} ${match} src,dst -j KUBE-MARK-MASQ`,
  )
  assert.equal(
    rulesOf('KUBE-SERVICES', ['clusterIp'], { masqueradeAll: true })[1],
    `${clusterIpComment} ${match} dst,dst -j KUBE-MARK-MASQ`,
  )
  assert.deepEqual(rulesOf('KUBE-SERVICES', [], { family: 6 }), ['-s ::1/128 -j RETURN', local])
})

test('node ports with the policy Local come first', () => {
  const set = (name: string, text: string): string =>
    `-p tcp -m comment --comment "Kubernetes nodeport TCP port ${text}" -m set --match-set ${name} dst`
  assert.deepEqual(rulesOf('KUBE-NODE-PORT', ['nodePortTcp', 'nodePortLocalTcp']).slice(0, 2), [
    `${set('KUBE-NODE-PORT-LOCAL-TCP', 'with externalTrafficPolicy=local')} -j RETURN`,
    `${set('KUBE-NODE-PORT-TCP', 'for masquerade purpose')} -j KUBE-MARK-MASQ`,
  ])
})

test('connections of an endpoint to itself are masqueraded before the mark is read', () => {
  const [first = '', second = ''] = rulesOf('KUBE-POSTROUTING', ['loopBack'])
  assert.match(first, /--match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE$/)
  assert.equal(second, '-m mark ! --mark 0x4000/0x4000 -j RETURN')
})

test('the node itself does not reach load balancers whose source ranges lack it', () => {
  const blocked = [{ address: '192.0.2.9', port: 80, protocol: 'TCP' as const }]
  const text = chainsText(chainRules(options, () => true, blocked))
  assert.match(
    text,
    /-A KUBE-IPVS-OUT-FILTER -s 192\.0\.2\.9 -m ipvs --vaddr 192\.0\.2\.9 --vproto tcp --vport 80 -j DROP/,
  )
  assert.match(text, /-A KUBE-SOURCE-RANGES-FIREWALL -j DROP\n/)
})

test('a full text adds missing jumps, and removes what only the mode iptables has', () => {
  const chains = chainRules(options, () => false, [])
  const first = fullText(chains, '')
  assert.equal(first.match(/^-I /gm)?.length, 9)
  const services = jumps.find(({ table, from }) => table === 'nat' && from === 'OUTPUT')!
  const external = jumps.find(({ rule }) => rule.includes('KUBE-EXTERNAL-SERVICES'))!
  const saved = [
    '*filter\n:INPUT ACCEPT [0:0]\n:KUBE-EXTERNAL-SERVICES - [0:0]\n:KUBE-FORWARD - [0:0]',
    `-A ${external.from} ${external.rule}\nCOMMIT`,
    '*nat\n:OUTPUT ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n:KUBE-SVC-NPX46M4PTMTKRN6Y - [0:0]',
    `-A ${services.from} ${services.rule}\nCOMMIT\n`,
  ].join('\n')
  const text = fullText(chains, saved)
  assert.match(text, /^-D INPUT .*KUBE-EXTERNAL-SERVICES$/m)
  assert.match(text, /^-X KUBE-EXTERNAL-SERVICES$/m)
  assert.match(text, /^-X KUBE-SVC-NPX46M4PTMTKRN6Y$/m)
  // Both modes have these.
  assert.doesNotMatch(text, /^-X KUBE-(SERVICES|FORWARD)$|^-[DI] OUTPUT .*KUBE-SERVICES$/m)
  assert.match(removalText(saved), /^-D OUTPUT .*KUBE-SERVICES$/m)
  assert.equal(removalText('*nat\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n'), '')
})

test('names of sets have at most 31 characters', () => {
  assert.equal(setName('clusterIp', 6), 'KUBE-6-CLUSTER-IP')
  assert.equal(setName('loadBalancerSourceCidr', 6), 'KUBE-6-LOAD-BALANCER-SOURCE-CID')
})

test('sets are replaced as a whole, or changed by entries', () => {
  const entry = { set: 'clusterIp', entry: '10.96.0.1,tcp:443' } as const
  const lines = replaceSets(4, [entry]).split('\n')
  const at = lines.indexOf('create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536')
  assert.deepEqual(lines.slice(at + 1, at + 6), [
    'create KUBE-NEW-HASH-IP-PORT hash:ip,port family inet hashsize 1024 maxelem 65536',
    'flush KUBE-NEW-HASH-IP-PORT',
    'add KUBE-NEW-HASH-IP-PORT 10.96.0.1,tcp:443',
    'swap KUBE-CLUSTER-IP KUBE-NEW-HASH-IP-PORT',
    'destroy KUBE-NEW-HASH-IP-PORT',
  ])
  assert.equal(
    changeSets(6, [entry], [{ set: 'ipvsIps', entry: 'fd00::1' }]),
    'del KUBE-6-CLUSTER-IP 10.96.0.1,tcp:443\nadd KUBE-6-IPVS-IPS fd00::1\n',
  )
})
