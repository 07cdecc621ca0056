/** `t8s runtime`: a container runtime for kubelets, in place of containerd. */
import { Command, Option } from 'commander'
import { type Log, standardLog } from '../../../../lib/log/log.ts'
import { surviveErrors } from '../../../../lib/process/unhandled-errors.ts'
import { type NetworkMode, networkModes } from '../../../../runtime/network/network-mode.ts'
import { dataFolders } from '../../../../runtime/rootless/user-folders.ts'
import type { RunningRuntime } from '../../../../runtime/runtime.ts'
import { imageSourceFlag } from '../../../flags/nodes/image-source-flag.ts'
import { type RegistryFlags, registrySettings, withRegistryOptions } from '../../../flags/nodes/registry-flags.ts'
import { stopSignal } from '../../../running/stop-signal.ts'
import { runsInNamespaces } from '../../../running/without-root.ts'
import { imageRootOption } from '../../image/store-option.ts'

interface RuntimeFlags extends RegistryFlags {
  readonly listen: string
  readonly root: string
  readonly state: string
  readonly imageRoot: string
  readonly imageSource: readonly string[]
  readonly executor: string
  readonly ociRuntime?: string
  /** True without an address. */
  readonly docker?: string | true
  readonly network: NetworkMode
  readonly podCidr?: string
  readonly bridge: string
  readonly cniConfDir: string
  readonly cniBinDir: string
  readonly cdiSpecDirs: string
  readonly streamingPort: string
}

const examples = `
Examples:
  sudo t8s runtime
  sudo t8s kubelet --kubeconfig kubeconfig --container-runtime-endpoint unix:///run/typernetes/runtime.sock
  sudo crictl --runtime-endpoint unix:///run/typernetes/runtime.sock ps
  sudo t8s runtime --listen unix:///tmp/r.sock --root /tmp/r/root --state /tmp/r/state --executor shell
  sudo t8s runtime --docker`

export function runtimeCommand(): Command {
  const { data, runtime } = dataFolders()
  const command = new Command('runtime')
    .description('run containers for a kubelet, in place of containerd')
    .option('--listen <endpoint>', 'the socket of the CRI server', `unix://${runtime}/runtime.sock`)
    .option('--root <folder>', 'records, which survive a reboot', `${data}/runtime`)
    .option('--state <folder>', 'files of running containers', '/run/typernetes/runtime')
    .addOption(imageRootOption())
    .addOption(imageSourceFlag())
    .option('--executor <name>', 'runs the containers: crun, runc, shell, or auto for the first that is usable', 'auto')
    .option('--oci-runtime <program>', 'the path of crun or runc, in place of --executor')
    .option(
      '--docker [address]',
      'let a Docker engine run the containers, in place of an executor and images of our own ' +
        '(default address: $DOCKER_HOST, else unix:///var/run/docker.sock)',
    )
    .addOption(
      new Option('--network <kind>', 'connects pods: our bridge, plug-ins, or plug-ins if they are configured')
        .choices(networkModes)
        .default('auto'),
    )
    .option('--pod-cidr <ranges>', 'addresses of pods on the bridge (default: the range that the kubelet sends)')
    .option('--bridge <name>', 'the bridge of pods, which is created', 't8s0')
    .option('--cni-conf-dir <folder>', 'configurations of CNI plug-ins', '/etc/cni/net.d')
    .option('--cni-bin-dir <folders>', 'CNI plug-ins', '/opt/cni/bin:/usr/lib/cni')
    .option('--cdi-spec-dirs <folders>', 'spec files of CDI devices; a later folder wins', '/etc/cdi:/var/run/cdi')
    .option('--streaming-port <port>', 'the port for exec, attach and port-forward on 127.0.0.1; 0: a free one', '0')
  return withRegistryOptions(command).addHelpText('after', examples).action(runRuntime)
}

async function runRuntime(flags: RuntimeFlags): Promise<void> {
  const log = standardLog('text')
  // A Docker engine needs no namespaces.
  if (!flags.docker && (await runsInNamespaces(log))) return
  const stopping = stopSignal()
  const runtime = await (flags.docker ? startDocker(flags, log) : startOwn(flags, log))
  log(`runtime serves on ${flags.listen}, and runs containers with ${runtime.executor}`)
  surviveErrors(log)
  await stopping.requested
  await runtime.stop()
}

async function startOwn(flags: RuntimeFlags, log: Log): Promise<RunningRuntime> {
  const { startStandaloneRuntime } = await import('../../../../runtime/standalone-runtime.ts')
  return startStandaloneRuntime({
    endpoint: flags.listen,
    root: flags.root,
    state: flags.state,
    registries: registrySettings(flags),
    imageFolder: flags.imageRoot,
    imageSources: flags.imageSource,
    executor: flags.ociRuntime ?? flags.executor,
    network: {
      mode: flags.network,
      configFolder: flags.cniConfDir,
      pluginFolders: flags.cniBinDir.split(':'),
      bridge: flags.bridge,
      podCidr: flags.podCidr,
    },
    cdiFolders: flags.cdiSpecDirs.split(':'),
    streamPort: Number(flags.streamingPort),
    log,
  })
}

async function startDocker({ listen, docker, streamingPort }: RuntimeFlags, log: Log): Promise<RunningRuntime> {
  const { startDockerRuntime } = await import('../../../../runtime/docker/docker-runtime.ts')
  const address = docker === true ? undefined : docker
  return startDockerRuntime({ endpoint: listen, address, name: 'runtime', streamPort: Number(streamingPort), log })
}
