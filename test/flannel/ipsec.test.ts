/**
 * The backend ipsec on two nodes: policies of the kernel, and keys by strongSwan's charon. Packets themselves need ESP,
 * which this kernel may lack: the virtual machine of `test/virtual-machine/flannel` sends them. Needs root.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { Capture, plainPacket } from './capture.ts'
import { FlannelLab } from './flannel-lab.ts'
import type { FlannelNode } from './flannel-node.ts'

interface IpsecLab {
  readonly lab: FlannelLab
  readonly a: FlannelNode
  readonly b: FlannelNode
  readonly config: string
  readonly secret: string
}

const skip = spawnSync('swanctl', ['--version']).error ? 'swanctl is not installed' : false
const connection = '192.168.33.101-10.244.1.0/24-10.244.2.0/24-192.168.33.102'
const holders: ChildProcess[] = []

await inNamespaces(import.meta.filename, async () => {
  const lab = await FlannelLab.start({ after })
  after(() => holders.forEach((holder) => void holder.kill('SIGKILL')))
  const secret = randomBytes(48).toString('hex')
  const config = lab.configure('ipsec', { Network: '10.244.0.0/16', Backend: { Type: 'ipsec', PSK: secret } })
  const a = await lab.node('a', 101, 'bridge', ['10.244.1.0/24'])
  const b = await lab.node('b', 102, 'bridge', ['10.244.2.0/24'])
  const all = { lab, a, b, config, secret }
  test('a machine without charon, and a short secret, are reported with what to do', { skip }, () => nameMissing(all))
  test('nodes get policies for packets of both directions, and charon trusts the other node', { skip }, () =>
    connect(all),
  )
  test('a removed policy comes back, and a restart keeps charon with its associations', { skip }, () => restart(all))
  test('a charon that ended is started again', { skip }, () => recover(all))
  test('policies and connections of a node that left are removed', { skip }, () => leave(all))
})

async function nameMissing({ lab, a, config }: IpsecLab): Promise<void> {
  await ownMounts(a, 'mount -t tmpfs none /usr/lib/ipsec')
  a.spawn(config)
  await a.ended()
  assert.match(
    a.output,
    /no valid charon executable found .*install strongSwan; in Debian, the packages strongswan-char/,
  )
  const short = { Network: '10.244.0.0/16', Backend: { Type: 'ipsec', PSK: 'hidden' } }
  a.spawn(lab.configure('short', short))
  await a.ended()
  assert.match(a.output, /PSK has 6 characters, and needs at least 96; openssl rand -hex 48 prints one/)
  assert.doesNotMatch(a.output, /hidden/)
}

async function connect({ lab, a, b, config, secret }: IpsecLab): Promise<void> {
  for (const node of [a, b]) await ownMounts(node, 'mount -t tmpfs none /run')
  const capture = await Capture.start('switch', 'udp port 500')
  await Promise.all([a, b].map((node) => node.start(config, '--ip-masq')))
  const [frame] = await capture.frames(1)
  capture.stop()
  const addresses = Object.values(plainPacket(frame!)).sort()
  assert.deepEqual(addresses, ['192.168.33.101', '192.168.33.102'])
  assert.deepEqual(policies(a), [
    'src 10.244.1.0/24 dst 10.244.2.0/24 out 192.168.33.101 > 192.168.33.102 esp reqid 11 tunnel',
    'src 10.244.2.0/24 dst 10.244.1.0/24 fwd 192.168.33.102 > 192.168.33.101 esp reqid 11 tunnel',
    'src 10.244.2.0/24 dst 10.244.1.0/24 in 192.168.33.102 > 192.168.33.101 esp reqid 11 tunnel',
  ])
  assert.match(a.subnetEnvironment(), /^FLANNEL_MTU=1423$/m)
  const annotations = await lab.annotations('a')
  assert.equal(annotations['flannel.alpha.coreos.com/backend-type'], 'ipsec')
  assert.equal(annotations['flannel.alpha.coreos.com/backend-data'], 'null')
  await waitFor('trust', () => associations(a).length > 0)
  assert.match(
    inMounts(a, 'swanctl', '--list-conns'),
    /10\.244\.1\.0\/24-10\.244\.2\.0\/24: TUNNEL, rekeying every 3600s/,
  )
  for (const { output } of [a, b]) {
    assert.match(output, /ipsec: Charon daemon started: charon \d/)
    assert.match(output, /^charon: /m)
    assert.ok(!output.includes(secret))
  }
}

async function restart({ a, config }: IpsecLab): Promise<void> {
  const [process, before] = [charonProcess(a), associations(a)]
  a.run('ip', 'xfrm', 'policy', 'delete', 'src', '10.244.1.0/24', 'dst', '10.244.2.0/24', 'dir', 'out')
  a.run('ip', 'address', 'add', '192.168.33.201/24', 'dev', 'eth0')
  await waitFor('the policy', () => policies(a).length === 3)
  await a.stop()
  assert.equal(policies(a).length, 3)
  await a.start(config, '--ip-masq')
  assert.match(a.output, /ipsec: using charon [\d.]+, which runs already/)
  assert.equal(charonProcess(a), process)
  assert.deepEqual(associations(a), before)
  assert.doesNotMatch(a.output, /ipsec: policy/)
}

async function recover({ a }: IpsecLab): Promise<void> {
  inMounts(a, 'kill', '-KILL', charonProcess(a))
  a.run('ip', 'address', 'delete', '192.168.33.201/24', 'dev', 'eth0')
  await a.waitForOutput('ipsec: Charon daemon started')
  await waitFor('trust', () => associations(a).length > 0)
}

async function leave({ lab, a, b }: IpsecLab): Promise<void> {
  await b.kill()
  await lab.removeNode('b')
  await a.waitForOutput(`ipsec: Unloaded connection: ${connection}`)
  assert.deepEqual(policies(a), [])
  await waitFor('no association', () => associations(a).length === 0)
  assert.equal(inMounts(a, 'swanctl', '--list-conns'), '')
}

/** Each policy of the node in one line; those of charon's own sockets are left out. */
function policies(node: FlannelNode): string[] {
  const text = node.run('ip', 'xfrm', 'policy', 'list', 'nosock').replaceAll(/\s+/g, ' ')
  return text
    .split(/(?=src \S+ dst \S+ dir)/)
    .map((policy) =>
      policy
        .trim()
        .replace(/ dir (\w+) priority 0 (ptype main )?tmpl src (\S+) dst (\S+) proto/, ' $1 $3 > $4')
        .replace(' mode', ''),
    )
    .filter((policy) => policy !== '')
    .sort()
}

/** The numbers of established associations with the other node. */
function associations(node: FlannelNode): string[] {
  const lines = inMounts(node, 'swanctl', '--list-sas').split('\n')
  return lines.filter((line) => line.startsWith(`${connection}: #`) && line.includes('ESTABLISHED')).map(numberOf)
}

const numberOf = (line: string): string => /#\d+/.exec(line)?.[0] ?? ''

const charonProcess = (node: FlannelNode): string => inMounts(node, 'cat', '/run/charon.pid')

const inMounts = (node: FlannelNode, ...command: readonly string[]): string =>
  node.run('nsenter', `--mount=/proc/${node.mountsOf}/ns/mnt`, ...command).trim()

/** Gives a node mounts of its own, as each machine has: sockets of charon have fixed places. */
async function ownMounts(node: FlannelNode, script: string): Promise<void> {
  const child = spawn('unshare', ['-m', 'sh', '-ec', `${script}; echo mounted; exec sleep infinity`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  holders.push(child)
  node.mountsOf = child.pid
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
}
