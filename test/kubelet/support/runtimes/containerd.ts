/** Debian's containerd with crun, as the runtime of a test. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeRuntime } from './node-runtime.ts'
import { debianNetwork, type PodNetworkFiles } from './pod-network.ts'
import { RuntimeProcess } from './runtime-process.ts'
import { images, writeTestImages } from './test-images.ts'

const configOf = (folder: string, socket: string, { pluginFolder, write }: PodNetworkFiles): string => `
version = 2
root = "${folder}/root"
state = "${folder}/state"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${images.pause}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${pluginFolder}"
    conf_dir = "${write(folder)}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "crun"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
        BinaryName = "crun"
        SystemdCgroup = false
`

/** In a process of `inNamespaces`, it shares the namespaces of the process. */
export async function startContainerd(network: PodNetworkFiles = debianNetwork): Promise<NodeRuntime> {
  const daemon = new RuntimeProcess('containerd', (folder, socket) => {
    const config = join(folder, 'config.toml')
    writeFileSync(config, configOf(folder, socket, network))
    return ['containerd', '--config', config]
  })
  const importImage = async (file: string): Promise<void> => {
    await daemon.enter('ctr', '-a', daemon.socket, '-n', 'k8s.io', 'images', 'import', file)
  }
  try {
    await daemon.start()
    for (const file of writeTestImages(daemon.folder)) await importImage(file)
  } catch (error) {
    await daemon.end()
    throw error
  }
  return {
    name: 'containerd',
    endpoint: daemon.endpoint,
    get pid() {
      return daemon.pid
    },
    enter: (command, ...args) => daemon.enter(command, ...args),
    importImage,
    stopDaemon: () => daemon.stop(),
    startDaemon: () => daemon.restart(),
    stop: () => daemon.end(),
  }
}
