/** `t8s runtime` as the runtime of a test, with the executor of T8S_TEST_EXECUTOR. Default: crun. */
import { join } from 'node:path'
import { ImageStore, importArchive } from '../../../../src/runtime/images/index.ts'
import type { NodeRuntime } from './node-runtime.ts'
import { pluginFolder, writePodNetwork } from './pod-network.ts'
import { RuntimeProcess } from './runtime-process.ts'
import { writeTestImages } from './test-images.ts'

const program = join(import.meta.dirname, '../../../../t8s')

const commandOf = (folder: string, socket: string): readonly string[] => [
  program,
  'runtime',
  `--listen=unix://${socket}`,
  `--root=${join(folder, 'root')}`,
  `--state=${join(folder, 'state')}`,
  `--image-root=${join(folder, 'images')}`,
  `--executor=${process.env.T8S_TEST_EXECUTOR ?? 'crun'}`,
  '--network=cni',
  `--cni-conf-dir=${writePodNetwork(folder)}`,
  `--cni-bin-dir=${pluginFolder}`,
]

/** In a process of `inNamespaces`, it shares the namespaces of the process. */
export async function startEmbeddedRuntime(): Promise<NodeRuntime> {
  const server = new RuntimeProcess('runtime', commandOf)
  const store = new ImageStore(join(server.folder, 'images'))
  const importImage = async (file: string): Promise<void> => {
    await importArchive(store, file)
  }
  try {
    for (const file of writeTestImages(server.folder)) await importImage(file)
    await server.start()
  } catch (error) {
    await server.end()
    throw error
  }
  return {
    name: 'typernetes',
    endpoint: server.endpoint,
    get pid() {
      return server.pid
    },
    enter: (command, ...args) => server.enter(command, ...args),
    importImage,
    stopDaemon: () => server.stop(),
    startDaemon: () => server.restart(),
    stop: () => server.end(),
  }
}
