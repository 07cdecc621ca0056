/** `t8s runtime --docker` in front of Debian's Docker engine, as the runtime of a test. */
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { exportArchive, ImageStore, importArchive } from '../../../../src/runtime/images/index.ts'
import { DockerDaemon } from '../../../support/docker-daemon.ts'
import type { NodeRuntime } from './node-runtime.ts'
import { RuntimeProcess } from './runtime-process.ts'
import { writeTestImages } from './test-images.ts'

const program = join(import.meta.dirname, '../../../../t8s')

/** Starts the engine unless it runs, since it outlives the runtime, and becomes the runtime. */
const script = `
folder=$1 address=$2 listen=$3
shift 3
if ! kill -0 "$(cat "$folder/docker.pid" 2>/dev/null)" 2>/dev/null; then
  rm -f "$folder/docker.sock" "$folder/docker.pid"
  "$@" >>"$folder/docker.log" 2>&1 &
  until [ -S "$folder/docker.sock" ]; do sleep 0.05; done
fi
exec "${program}" runtime --docker="$address" --listen="$listen"
`

/** In a process of `inNamespaces`, it shares the namespaces of the process. */
export async function startDockerRuntime(): Promise<NodeRuntime> {
  let daemon: DockerDaemon | undefined
  const server = new RuntimeProcess('runtime', (folder, socket) => {
    daemon = new DockerDaemon(folder)
    const engine = ['sh', '-c', script, 'sh', daemon.folder, daemon.address, `unix://${socket}`, ...daemon.command]
    return engine
  })
  const store = new ImageStore(join(server.folder, 'images'))
  const importImage = async (file: string): Promise<void> => {
    const names = await importArchive(store, file)
    const archive = new PassThrough()
    const content = buffer(archive)
    await exportArchive(
      store,
      names.flatMap(({ tags }) => tags),
      archive,
    )
    archive.end()
    await daemon!.load(await content)
  }
  try {
    await server.start()
    for (const file of writeTestImages(server.folder)) await importImage(file)
  } catch (error) {
    await server.end()
    throw error
  }
  return {
    name: 'docker',
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
