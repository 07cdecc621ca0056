/** `t8s runtime`: a container runtime for kubelets, in place of containerd. */
import { Command, Option } from 'commander'
import { standardLog } from '../../../lib/log/log.ts'
import { surviveErrors } from '../../../lib/process/unhandled-errors.ts'
import { type NetworkMode, networkModes } from '../../../runtime/network/network-mode.ts'
import { dataFolders } from '../../../runtime/rootless/user-folders.ts'
import { stopSignal } from '../../running/stop-signal.ts'
import { runsInNamespaces } from '../../running/without-root.ts'
import { type RegistryFlags, registrySettings, withRegistryOptions } from '../image/registry-options.ts'
import { imageRootOption } from '../image/store-option.ts'

interface RuntimeFlags extends RegistryFlags {
  readonly listen: string
  readonly root: string
  readonly state: string
  readonly imageRoot: string
  readonly executor: string
  readonly ociRuntime?: string
  readonly network: NetworkMode
  readonly podCidr?: string
  readonly bridge: string
  readonly cniConfDir: string
  readonly cniBinDir: string
  readonly streamingPort: string
}

const examples = `
Examples:
  sudo t8s runtime
  sudo t8s kubelet --kubeconfig kubeconfig --container-runtime-endpoint unix:///run/typernetes/runtime.sock
  sudo crictl --runtime-endpoint unix:///run/typernetes/runtime.sock ps
  sudo t8s runtime --listen unix:///tmp/r.sock --root /tmp/r/root --state /tmp/r/state --executor shell`

export function runtimeCommand(): Command {
  const { data, runtime } = dataFolders()
  const command = new Command('runtime')
    .description('run containers for a kubelet, in place of containerd')
    .option('--listen <endpoint>', 'the socket of the CRI server', `unix://${runtime}/runtime.sock`)
    .option('--root <folder>', 'records, which survive a reboot', `${data}/runtime`)
    .option('--state <folder>', 'files of running containers', '/run/typernetes/runtime')
    .addOption(imageRootOption())
    .option('--executor <name>', 'runs the containers: crun, runc, shell, or auto for the first that is usable', 'auto')
    .option('--oci-runtime <program>', 'the path of crun or runc, in place of --executor')
    .addOption(
      new Option('--network <kind>', 'connects pods: our bridge, plug-ins, or plug-ins if they are configured')
        .choices(networkModes)
        .default('auto'),
    )
    .option('--pod-cidr <ranges>', 'addresses of pods on the bridge (default: the range that the kubelet sends)')
    .option('--bridge <name>', 'the bridge of pods, which is created', 't8s0')
    .option('--cni-conf-dir <folder>', 'configurations of CNI plug-ins', '/etc/cni/net.d')
    .option('--cni-bin-dir <folders>', 'CNI plug-ins', '/opt/cni/bin:/usr/lib/cni')
    .option('--streaming-port <port>', 'the port for exec, attach and port-forward on 127.0.0.1; 0: a free one', '0')
  return withRegistryOptions(command).addHelpText('after', examples).action(runRuntime)
}

async function runRuntime(flags: RuntimeFlags): Promise<void> {
  const log = standardLog('text')
  if (await runsInNamespaces(log)) return
  const stopping = stopSignal()
  const { startStandaloneRuntime } = await import('../../../runtime/standalone-runtime.ts')
  const runtime = await startStandaloneRuntime({
    endpoint: flags.listen,
    root: flags.root,
    state: flags.state,
    registries: registrySettings(flags),
    imageFolder: flags.imageRoot,
    executor: flags.ociRuntime ?? flags.executor,
    network: {
      mode: flags.network,
      configFolder: flags.cniConfDir,
      pluginFolders: flags.cniBinDir.split(':'),
      bridge: flags.bridge,
      podCidr: flags.podCidr,
    },
    streamPort: Number(flags.streamingPort),
    log,
  })
  surviveErrors(log)
  await stopping.requested
  await runtime.stop()
}
