/** A cluster, and a second machine: a network namespace that is joined by a veth pair. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { images, writeTestImages } from '../kubelet/support/runtimes/test-images.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { kubectl, type Running, repository, t8s, temporaryFolder, up } from '../up/t8s-process.ts'

export const serverAddress = '10.9.0.1'
const [otherMachine, router] = ['other', 'router']
/** The flag of nsenter, which does not hide cgroups as ip netns exec does. */
const network = `--net=/run/netns/${otherMachine}`
/** Services, nodes and pods have addresses of both families. */
const ranges = '--service-cluster-ip-range=10.97.0.0/16,fd97::/112'
const covered = ['/run/typernetes', '/var/lib/typernetes', '/etc/cni', '/run/netns']

/** Runs a program, and returns its standard output. */
export const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', timeout: 60_000 })

/** Runs a program in the network of the second machine. */
export const onOther = (...args: readonly string[]): string => run('ip', 'netns', 'exec', otherMachine, ...args)

/** A `t8s join` that runs. */
export interface JoinProcess {
  readonly output: () => string
  /** Resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface JoinLab {
  readonly cluster: Running
  /** The folder of the node's files on the second machine. */
  readonly data: string
  /** Standard output of a kubectl command that succeeds. */
  kubectl(...args: readonly string[]): string
  /** The arguments of `t8s join`, with a new token. */
  joinArguments(...flags: readonly string[]): readonly string[]
  /** Runs `t8s` on the second machine to its end. */
  t8sOnOther(...args: readonly string[]): ReturnType<typeof t8s>
  /** Starts `t8s join` on the second machine; resolves when it is a node. */
  join(args: readonly string[]): Promise<JoinProcess>
}

/** Creates the machines of this process's namespaces, and starts the cluster on the first one. */
export async function joinLab(t: Lifetime): Promise<JoinLab> {
  prepareNodeNamespaces(covered)
  connectMachines()
  const folder = temporaryFolder(t)
  for (const file of writeTestImages(folder)) assert.equal(t8s(['image', 'import', file]).code, 0)
  const flags = ['--bind-address=0.0.0.0', '--secure-port=6443', '--hostname-override=server', ranges]
  const cluster = await up(t, ['--node-type=real', `--data-dir=${join(folder, 'up')}`, ...flags])
  const data = join(folder, 'node')
  const lab: JoinLab = {
    cluster,
    data,
    kubectl(...args) {
      const { code, stdout, stderr } = kubectl(cluster.kubeconfig, ...args)
      assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}\n${cluster.output()}`)
      return stdout
    },
    joinArguments(...more) {
      const { stdout, stderr } = t8s(['token', 'create', '--print-join-command', `--kubeconfig=${cluster.kubeconfig}`])
      assert.match(stdout, /^t8s join /, stderr)
      return [...stdout.trim().split(' ').slice(1), `--data-dir=${data}`, '--hostname-override=other', ...more]
    },
    t8sOnOther: (...args) => t8s([network, join(repository, 't8s'), ...args], { program: 'nsenter' }),
    join: (args) => startJoin(t, args),
  }
  await waitFor(
    'the cluster publishes its address',
    () => kubectl(cluster.kubeconfig, '-n', 'kube-public', 'get', 'configmap', 'cluster-info').code === 0,
  )
  return lab
}

function connectMachines(): void {
  run('ip', 'netns', 'add', otherMachine)
  run('ip', 'link', 'add', 'lan', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', otherMachine)
  for (const address of [`${serverAddress}/24`, 'fd09::1/64']) addAddress(address, 'lan')
  run('ip', 'link', 'set', 'lan', 'up')
  connectOther('0', serverAddress, 'fd09::1')
}

/** Gives the second machine its addresses, 10.9.NETWORK.2 and fd09:NETWORK::2, and the gateways of its link. */
function connectOther(network: string, ...gateways: readonly string[]): void {
  for (const address of [`10.9.${network}.2/24`, `fd09:${network}::2/64`]) addAddress(address, 'eth0', otherMachine)
  for (const device of ['lo', 'eth0']) run('ip', '-n', otherMachine, 'link', 'set', device, 'up')
  for (const gateway of gateways) run('ip', '-n', otherMachine, 'route', 'add', 'default', 'via', gateway)
}

/** Puts a router between the machines: the second one gets addresses of another network. */
export function moveBehindRouter(): void {
  run('ip', 'netns', 'add', router)
  run('ip', '-n', otherMachine, 'link', 'set', 'eth0', 'netns', router, 'name', 'near')
  run('ip', '-n', router, 'link', 'add', 'far', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', otherMachine)
  for (const address of ['10.9.0.254/24', 'fd09::254/64']) addAddress(address, 'near', router)
  for (const address of ['10.9.1.1/24', 'fd09:1::1/64']) addAddress(address, 'far', router)
  for (const device of ['near', 'far']) run('ip', '-n', router, 'link', 'set', device, 'up')
  const settings = ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']
  run('ip', 'netns', 'exec', router, 'sysctl', '-qw', ...settings)
  connectOther('1', '10.9.1.1', 'fd09:1::1')
  run('ip', 'route', 'add', '10.9.1.0/24', 'via', '10.9.0.254')
  run('ip', 'route', 'add', 'fd09:1::/64', 'via', 'fd09::254')
}

function addAddress(address: string, device: string, machine?: string): void {
  const options = address.includes(':') ? ['nodad'] : []
  run('ip', ...(machine ? ['-n', machine] : []), 'addr', 'add', address, 'dev', device, ...options)
}

async function startJoin(t: Lifetime, args: readonly string[]): Promise<JoinProcess> {
  const child = spawn('nsenter', [network, join(repository, 't8s'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece.toString()))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  await waitFor('the machine is a node', () => {
    assert.equal(child.exitCode, null, output)
    return output.includes('Ctrl-C stops it')
  })
  return {
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
  }
}

/** A pod of busybox on a node, which serves its name by HTTP and logs its clients. */
export const webPod = (name: string, nodeName: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'web',
          image: images.busybox,
          command: ['sh', '-c', `mkdir /www; echo ${name} >/www/index.html; exec httpd -f -vv -p 80 -h /www`],
        },
      ],
    },
  })
