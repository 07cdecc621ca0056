/** `t8s flannel`: connects the pods of this machine, a node of any cluster, with those of other nodes. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import type { ManifestOptions } from '../../../../cluster/flannel/manifest.ts'
import { ExplainedError } from '../../../../lib/explained-error.ts'
import { standardLog } from '../../../../lib/log/log.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import { tuneAfterStart } from '../../../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { stopSignal } from '../../../running/stop-signal.ts'
import { passThrough } from './apiserver.ts'

export function flannelCommand(): Command {
  const command = passThrough(
    new Command('flannel').description(
      'connect the pods of this machine with those of other nodes (--help lists the flags)',
    ),
  ).action((args: string[]) => runFlannelCommand(args))
  command
    .command('manifest')
    .description('print the objects that run flannel on each node of a cluster')
    .requiredOption('--image <IMAGE>', 'an image with t8s as a program, and nft or iptables')
    .option('--network <RANGE>', "the cluster's range of pods: --cluster-cidr of its controllers", '10.244.0.0/16')
    .option('--ipv6-network <RANGE>', 'the range of IPv6, for dual stack')
    .option('--backend <TYPE>', 'how packets get to other nodes', 'vxlan')
    .option('--psk-file <FILE>', 'a file with the secret of all nodes, for the backends ipsec and wireguard')
    .option('--nftables', 'write rules into nftables, in place of iptables')
    .option('--namespace <NAME>', 'the namespace of the DaemonSet', 'kube-flannel')
    .action((options: ManifestFlags) => printManifest(options))
  command
    .command('docker-opts')
    .description("print options of Docker for a bridge with this node's subnet, as mk-docker-opts.sh does")
    .option('-f <FILE>', 'the file that flannel wrote', '/run/flannel/subnet.env')
    .option('-d <FILE>', 'the file to write (default: standard output)')
    .option('-i', 'only one variable for each option')
    .option('-c', 'only one variable with all options')
    .option('-k <NAME>', 'the name of that variable', 'DOCKER_OPTS')
    .option('-m', 'without --ip-masq')
    .action((options: DockerFlags) => printDockerOptions(options))
  return command
}

interface ManifestFlags extends Omit<ManifestOptions, 'psk'> {
  readonly pskFile?: string
}

async function printManifest({ pskFile, ...options }: ManifestFlags): Promise<void> {
  const { flannelManifest } = await import('../../../../cluster/flannel/manifest.ts')
  const psk = pskFile === undefined ? {} : { psk: readSecret(pskFile) }
  process.stdout.write(flannelManifest({ ...options, ...psk }))
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ExplainedError(`cannot read ${file} (--psk-file): ${messageOf(error)}`, { cause: error })
  }
}

interface DockerFlags {
  readonly f: string
  readonly d?: string
  readonly i?: boolean
  readonly c?: boolean
  readonly k: string
  readonly m?: boolean
}

async function printDockerOptions({ f: path, d: target, i, c, k, m }: DockerFlags): Promise<void> {
  const [{ readSubnetFile }, { dockerOptions }, { writeFileAtomically }] = await Promise.all([
    import('../../../../network/flannel/subnet-file/subnet-file.ts'),
    import('../../../../network/flannel/subnet-file/docker-options.ts'),
    import('../../../../lib/files/atomic-file.ts'),
  ])
  const file = readSubnetFile(path)
  if (!file) throw new ExplainedError(`${path} does not exist (-f): start t8s flannel, which writes it`)
  const both = !i && !c
  const text = dockerOptions(file, {
    individual: both || i === true,
    combined: both || c ? k : undefined,
    masquerade: !m,
  })
  if (target === undefined) process.stdout.write(text)
  else writeFileAtomically(target, text, 0o644)
}

async function runFlannelCommand(args: readonly string[]): Promise<void> {
  const stopping = stopSignal()
  const { flannelFlags, flannelHelp } = await import('../../../../cluster/flannel/flags.ts')
  if (args.some((arg) => arg === '--help' || arg === '-help' || arg === '-h')) {
    process.stdout.write(flannelHelp('t8s flannel'))
    process.exit()
  }
  const flags = flannelFlags(args, process.env)
  if (flags.text('version') !== undefined && flags.text('version') !== 'false') {
    const { kubernetesVersion, release } = await import('../../../../lib/release.ts')
    process.stdout.write(`flannel of ${kubernetesVersion(release)}\n`)
    process.exit()
  }
  const format = flags.text('logging-format')
  const log = standardLog(format === 'json' || format === 'text' ? format : undefined)
  const { runFlannel } = await import('../../../../cluster/flannel/run-flannel.ts')
  const controller = new AbortController()
  void stopping.requested.then(() => controller.abort())
  surviveErrors(log)
  const running = runFlannel({ flags, environment: process.env, log, signal: controller.signal })
  tuneAfterStart()
  await running
  log('Exiting cleanly...')
}
