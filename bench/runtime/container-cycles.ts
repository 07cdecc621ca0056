/** Lives of containers, one after the other: creation, start, stop and removal. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import type { NodeRuntime } from '../../test/kubelet/support/runtimes/node-runtime.ts'
import { cgroupRootOf } from '../../test/kubelet/support/runtimes/runtime-process.ts'
import { images } from '../../test/kubelet/support/runtimes/test-images.ts'
import { median } from '../report.ts'
import { CpuGroup } from './cpu-group.ts'

export interface Cycle {
  /** The median time, in ms. */
  readonly wallMs: number
  /** The mean CPU time of the runtime and all that it starts, in ms. */
  readonly cpuMs: number
}

/** Through CRI, in one pod. */
export async function measureCri(runtime: NodeRuntime, folder: string, count: number): Promise<Cycle> {
  const parent = cgroupRootOf(runtime.endpoint)
  const group = new CpuGroup(parent)
  group.add(runtime.pid)
  const client = new CriRuntime(runtime.endpoint)
  const metadata = { name: 'cycles', namespace: 'default', uid: 'cycles', attempt: 0 }
  // As a kubelet creates pods: each container has processes of its own.
  const linux = { cgroupParent: parent, securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } }
  const sandboxConfig = { metadata, logDirectory: join(folder, 'logs'), linux }
  const sandbox = await client.runSandbox(sandboxConfig)
  const live = async (index: number): Promise<void> => {
    const id = await client.createContainer(
      sandbox,
      {
        metadata: { name: `c${index}`, attempt: 0 },
        image: { image: images.busybox },
        command: ['sleep', '1000'],
        logPath: `${index}.log`,
        linux: { securityContext: linux.securityContext },
      },
      sandboxConfig,
    )
    await client.startContainer(id)
    await client.stopContainer(id, 0)
    await client.removeContainer(id)
  }
  const cycle = await measure(group, count, live)
  await client.stopSandbox(sandbox)
  await client.removeSandbox(sandbox)
  client.close()
  return cycle
}

/** `crun run` of `true`, which is a whole life. `archive` is that of an image of busybox. */
export async function measureCrun(folder: string, archive: string, count: number): Promise<Cycle> {
  const bundle = join(folder, 'bundle')
  mkdirSync(join(bundle, 'rootfs'), { recursive: true })
  const image = join(folder, 'image')
  mkdirSync(image)
  execFileSync('tar', ['-xf', archive, '-C', image])
  const blob = (digest: string): string => join(image, 'blobs', digest.replace(':', '/'))
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
  const [{ digest }] = read(join(image, 'index.json')).manifests
  for (const layer of read(blob(digest)).layers)
    execFileSync('tar', ['-xzf', blob(layer.digest), '-C', join(bundle, 'rootfs')])
  execFileSync('crun', ['spec'], { cwd: bundle })
  const spec = read(join(bundle, 'config.json'))
  Object.assign(spec.process, { terminal: false, args: ['true'] })
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
  const group = new CpuGroup('/t8s-bench-crun')
  const cycle = await measure(group, count, async (index) => {
    const [program, ...args] = group.within(['crun', '--root', join(folder, 'crun'), 'run', '-b', bundle, `b${index}`])
    execFileSync(program, args)
  })
  await group.remove()
  return cycle
}

async function measure(group: CpuGroup, count: number, live: (index: number) => Promise<void>): Promise<Cycle> {
  await live(0)
  const times: number[] = []
  const before = group.usedMs()
  for (let index = 1; index <= count; index++) {
    const started = performance.now()
    await live(index)
    times.push(performance.now() - started)
  }
  return { wallMs: median(times), cpuMs: (group.usedMs() - before) / count }
}
