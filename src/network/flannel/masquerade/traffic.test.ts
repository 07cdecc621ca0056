import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IptablesTraffic } from './iptables-traffic.ts'
import { tableText } from './nftables-traffic.ts'
import type { TrafficRulesOptions } from './traffic-rules.ts'

const options: TrafficRulesOptions = {
  family: 4,
  network: '10.244.0.0/16',
  subnet: '10.244.1.0/24',
  masquerade: true,
  forward: true,
  randomFully: true,
}

/** Plays the programs of iptables. `saved` is what iptables-save prints. */
function programs(saved: { text: string }) {
  const inputs: string[] = []
  const run = async (program: string, args: readonly string[], input = ''): Promise<string> => {
    if (args.includes('--version')) {
      if (program === 'iptables-nft') return 'iptables v1.8.9 (nf_tables)'
      throw new Error(`${program}: not found`)
    }
    if (program === 'iptables-nft-save') return saved.text
    inputs.push(input)
    return ''
  }
  return { run, inputs }
}

const masq = '-m comment --comment "flanneld masq"'
const forward = '-m comment --comment "flanneld forward"'
const rules = [
  `-A FLANNEL-POSTRTG -m mark --mark 0x4000/0x4000 ${masq} -j RETURN`,
  `-A FLANNEL-POSTRTG -s 10.244.1.0/24 -d 10.244.0.0/16 ${masq} -j RETURN`,
  `-A FLANNEL-POSTRTG -s 10.244.0.0/16 -d 10.244.1.0/24 ${masq} -j RETURN`,
  `-A FLANNEL-POSTRTG ! -s 10.244.0.0/16 -d 10.244.1.0/24 ${masq} -j RETURN`,
  `-A FLANNEL-POSTRTG -s 10.244.0.0/16 ! -d 224.0.0.0/4 ${masq} -j MASQUERADE --random-fully`,
  `-A FLANNEL-POSTRTG ! -s 10.244.0.0/16 -d 10.244.0.0/16 ${masq} -j MASQUERADE --random-fully`,
]
const forwardRules = [
  `-A FLANNEL-FWD -s 10.244.0.0/16 ${forward} -j ACCEPT`,
  `-A FLANNEL-FWD -d 10.244.0.0/16 ${forward} -j ACCEPT`,
]
const saved = (masquerade: readonly string[], postrouting: readonly string[]): string =>
  `${[
    '*filter',
    ':FORWARD ACCEPT [0:0]',
    ':FLANNEL-FWD - [0:0]',
    `-A FORWARD ${forward} -j FLANNEL-FWD`,
    ...forwardRules,
  ].join('\n')}\nCOMMIT\n*nat\n:FLANNEL-POSTRTG - [0:0]\n${[...postrouting, ...masquerade].join('\n')}\nCOMMIT\n`

test('rules of iptables are written in one input, in the order of upstream', async () => {
  const { run, inputs } = programs({ text: '*nat\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n' })
  assert.equal(await new IptablesTraffic(run, options).ensure(), true)
  assert.deepEqual(inputs, [
    [
      ...['*filter', ':FLANNEL-FWD - [0:0]', ...forwardRules, `-A FORWARD ${forward} -j FLANNEL-FWD`, 'COMMIT'],
      ...['*nat', ':FLANNEL-POSTRTG - [0:0]', ...rules, `-A POSTROUTING ${masq} -j FLANNEL-POSTRTG`, 'COMMIT', ''],
    ].join('\n'),
  ])
})

test('rules that are right are left alone; those of another subnet and a second jump are replaced', async () => {
  const jump = `-A POSTROUTING ${masq} -j FLANNEL-POSTRTG`
  const present = { text: saved(rules, [jump]) }
  const { run, inputs } = programs(present)
  const traffic = new IptablesTraffic(run, options)
  assert.equal(await traffic.ensure(), false)
  present.text = saved(rules, [jump, jump])
  assert.equal(await traffic.ensure(), true)
  const removed = jump.replace('-A', '-D')
  assert.equal(inputs[0], `*nat\n${removed}\n${removed}\n${jump}\nCOMMIT\n`)
  present.text = saved(
    rules.map((rule) => rule.replace('10.244.1.0', '10.244.7.0')),
    [jump],
  )
  await traffic.ensure()
  assert.equal(inputs[1], `*nat\n:FLANNEL-POSTRTG - [0:0]\n${rules.join('\n')}\nCOMMIT\n`)
})

test('rules of iptables are removed with the rules that call them', async () => {
  const { run, inputs } = programs({ text: saved(rules, [`-A POSTROUTING ${masq} -j FLANNEL-POSTRTG`]) })
  await new IptablesTraffic(run, options).remove()
  assert.equal(
    inputs[0],
    `*filter\n:FLANNEL-FWD - [0:0]\n-D FORWARD ${forward} -j FLANNEL-FWD\n-X FLANNEL-FWD\nCOMMIT\n` +
      `*nat\n:FLANNEL-POSTRTG - [0:0]\n-D POSTROUTING ${masq} -j FLANNEL-POSTRTG\n-X FLANNEL-POSTRTG\nCOMMIT\n`,
  )
})

test('rules of nftables are one transaction', () => {
  const text = tableText({ ...options, family: 6, network: 'fd00::/56', subnet: 'fd00:0:0:1::/64', randomFully: false })
  assert.match(
    text,
    /^add table ip6 flannel-ipv6 \{ comment "rules for flannel-ipv6" ; }\nflush table ip6 flannel-ipv6\n/,
  )
  assert.match(text, /postrtg ip6 saddr fd00::\/56 ip6 daddr != ff00::\/8 masquerade\n/)
  assert.doesNotMatch(tableText({ ...options, masquerade: false }), /postrtg/)
})
