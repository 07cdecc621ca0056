/** `t8s arp` beside tcpdump, `arp` of net-tools and arping, on a bridge with six hosts. Needs root. */
import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { repository, t8s, temporaryFolder } from '../up/t8s-process.ts'

/** Hosts: their addresses end with `at`; two of them have the same one. */
const hosts = [
  { name: 'a', at: 1 },
  { name: 'b', at: 2 },
  { name: 'c', at: 3 },
  { name: 'd', at: 4 },
  { name: 'e', at: 5 },
  { name: 'f', at: 5 },
]
const hardware = (name: string): string => `02:00:00:00:00:0${name}`
const moved = '02:00:00:00:01:0d'
const address = (end: number): string => `10.0.0.${end}`

await inNamespaces(import.meta.filename, () => {
  test('captures equal those of tcpdump, with marks; the table is that of net-tools', check)
})

async function check(t: TestContext): Promise<void> {
  connectHosts()
  const file = join(temporaryFolder(t), 'capture.pcap')
  const count = '11'
  const live = start(t, join(repository, 't8s'), ['arp', '--netns', 'a', '-i', 'eth0', '--hex', '-c', count])
  const peer = start(t, 'ip', ['netns', 'exec', 'a', 'tcpdump', '-U', '-i', 'eth0', '-c', count, '-w', file, 'arp'])
  for (const { name, errors } of [live, peer])
    await waitFor(`${name} listens`, () => /listening on eth0/.test(errors.join('')))
  await sendPackets(live)
  for (const { process, name, output } of [live, peer]) {
    if (process.exitCode === null) await once(process, 'exit')
    assert.equal(process.exitCode, 0, `${name}: ${output.join('')}`)
  }
  const text = live.output.join('')
  checkMarks(text)
  checkPackets(text, file)
  checkTable()
}

interface Started {
  readonly name: string
  readonly process: ChildProcessWithoutNullStreams
  readonly output: string[]
  readonly errors: string[]
}

function start(t: TestContext, name: string, args: readonly string[]): Started {
  const child = spawn(name, args)
  t.after(() => child.kill('SIGKILL'))
  const [output, errors]: string[][] = [[], []]
  child.stdout.on('data', (chunk) => output!.push(`${chunk}`))
  child.stderr.on('data', (chunk) => errors!.push(`${chunk}`))
  return { name, process: child, output: output!, errors: errors! }
}

const run = (program: string, ...args: readonly string[]): string => execFileSync(program, args, { encoding: 'utf8' })
const inside = (host: string, ...command: readonly string[]): string => run('ip', 'netns', 'exec', host, ...command)

function connectHosts(): void {
  mkdirSync('/run/netns', { recursive: true })
  run('mount', '-t', 'tmpfs', 'tmpfs', '/run/netns')
  const lines = hosts.flatMap(({ name, at }) => [
    `netns add ${name}`,
    `link add eth0 netns ${name} address ${hardware(name)} type veth peer name port-${name}`,
    `link set port-${name} master switch up`,
    `-n ${name} address add ${address(at)}/24 dev eth0`,
    `-n ${name} link set eth0 up`,
    `-n ${name} link set lo up`,
  ])
  // The host c answers for another one, which is behind it.
  const others = [`-n c route add ${address(77)} dev lo`]
  // Nobody has sent anything yet: what the host a knows, its kernel was given.
  const known = hosts
    .slice(1, 4)
    .map(({ name, at }) => `-n a neigh add ${address(at)} lladdr ${hardware(name)} dev eth0 nud stale`)
  for (const line of ['link add switch type bridge', 'link set switch up', ...lines, ...others, ...known])
    run('ip', ...line.split(' '))
  for (const parameter of ['conf.eth0.proxy_arp=1', 'neigh.eth0.proxy_delay=0', 'ip_forward=1'])
    inside('c', 'sysctl', '-q', '-w', `net.ipv4.${parameter}`)
}

/** Sends each packet when those before it were captured. */
async function sendPackets({ output }: Started): Promise<void> {
  let expected = 0
  const send = async (packets: number, host: string, ...args: readonly string[]): Promise<void> => {
    // It goes on waiting for answers, while the next packets are sent.
    spawn('ip', ['netns', 'exec', host, 'arping', '-q', '-c', '1', '-w', '1', '-i', 'eth0', ...args])
    expected += packets
    await waitFor(`packet ${expected}`, () => (output.join('').match(/HTYPE/g)?.length ?? 0) >= expected)
  }
  const reply = (from: string, claimed: number): Promise<void> =>
    send(1, from, '-P', '-S', address(claimed), '-t', hardware('a'), address(1))
  await send(2, 'a', address(2))
  await reply('c', 2)
  await send(3, 'a', address(5))
  await send(2, 'a', address(77))
  run('ip', '-n', 'd', 'link', 'set', 'eth0', 'address', moved)
  await send(1, 'd', '-U', '-S', address(4), address(4))
  await send(1, 'e', '-0', address(2))
  await reply('d', 4)
}

/** The kinds of packets and their marks. The hosts e and f answer in any order. */
function checkMarks(text: string): void {
  const heads = text.split('\n').filter((line) => / > [\da-f:]{17} /.test(line))
  const packets = heads.map((line) => /eth0 (\S+) > \S+ (.+)$/.exec(line)?.slice(1).join(' ') ?? line)
  const [e, f] = [hardware('e'), hardware('f')].sort((one) => (packets[4] === `${one} reply` ? -1 : 1))
  assert.deepEqual(packets, [
    `${hardware('a')} request`,
    `${hardware('b')} reply`,
    `${hardware('c')} reply [spoofed]`,
    `${hardware('a')} request`,
    `${e} reply`,
    `${f} reply [duplicate]`,
    `${hardware('a')} request`,
    `${hardware('c')} reply [proxy]`,
    `${moved} announcement [changed]`,
    `${hardware('e')} probe [in use]`,
    `${moved} reply [unsolicited]`,
  ])
  assert.match(text, /^11 packets, 1 spoofed, 1 duplicate, 1 proxy, 1 changed, 1 in use, 1 unsolicited$/m)
}

/** tcpdump has the same bytes, and reads the same meaning from them. */
function checkPackets(text: string, file: string): void {
  const theirs = run('tcpdump', '-r', file, '-t', '-nn', '-xx')
  const bytesOf = (part: string, pattern: RegExp): string =>
    [...part.matchAll(pattern)].map(([, hex = '']) => hex.replaceAll(' ', '')).join('')
  const packets = theirs.split(/^(?=ARP)/m).map((part) => bytesOf(part, /0x[\da-f]{4}: +([\da-f ]+)$/gm))
  const own = text.split(/^(?=\d\d:)/m).filter((part) => part.includes('HTYPE'))
  assert.deepEqual(
    own.map((part) => bytesOf(part, /^ +\d+(?:-\d+)? {2}([\da-f]{2}(?: [\da-f]{2})*)(?= {2}|$)/gm)),
    packets,
  )
  const read = t8s(['arp', '--read', file, '-o', 'json'])
  const objects = read.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly arp: Arp })
  const sentences = objects.map(({ arp }) => sentenceOf(arp))
  assert.deepEqual(
    sentences,
    [...theirs.matchAll(/^ARP, (?:Ethernet \(len 6\), IPv4 \(len 4\), )?(.+?),? length \d+/gm)].map(([, one]) => one),
  )
}

interface Arp {
  readonly op: number
  readonly sha: string
  readonly spa: string
  readonly tha: string
  readonly tpa: string
}

/** As tcpdump writes it. */
function sentenceOf({ op, sha, spa, tha, tpa }: Arp): string {
  if (op === 2) return `Reply ${spa} is-at ${sha}`
  return `Request who-has ${tpa}${/[^0:]/.test(tha) ? ` (${tha})` : ''} tell ${spa}`
}

/** Entries of all kinds: known, permanent, published, and one without an answer. */
function checkTable(): void {
  inside('a', 'arp', '-s', address(8), hardware('b'))
  inside('a', 'arp', '-Ds', address(9), 'eth0', 'pub')
  run('ip', '-n', 'a', 'neigh', 'add', address(10), 'dev', 'eth0', 'nud', 'incomplete')
  const theirs = inside('a', 'arp', '-an').trim().split('\n')
  const own = t8s(['arp', '-a', '--netns', 'a']).stdout.trim().split('\n')
  assert.ok(theirs.length >= 6, theirs.join('\n'))
  assert.match(theirs.join('\n'), new RegExp(`\\(${address(4)}\\) at ${moved} \\[ether\\]`))
  assert.deepEqual(own.filter((line) => line.startsWith('?')).sort(), theirs.sort())
}
