/** The measurements of `--runtime`. Runs in namespaces of its own (`index.ts`). */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reapOrphans } from '../../src/runtime/host/orphans.ts'
import { startContainerd } from '../../test/kubelet/support/runtimes/containerd.ts'
import { startEmbeddedRuntime } from '../../test/kubelet/support/runtimes/embedded-runtime.ts'
import { writeTestImages } from '../../test/kubelet/support/runtimes/test-images.ts'
import { prepareNodeNamespaces } from '../../test/support/node-namespaces.ts'
import { print } from '../report.ts'
import { type Cycle, measureCri, measureCrun } from './container-cycles.ts'
import { measureRealNode } from './real-node.ts'
import { measureUnpacking } from './unpacking.ts'

const cycles = 30
/** Folders of the machine that `t8s up` uses. */
const covered = ['/run/typernetes', '/var/lib/typernetes', '/etc/cni']

const ms = (value: number): string => `${Math.round(value)} ms`
const ratio = (value: number, other: number): string => `${(value / other).toFixed(2)} ×`

async function measureContainers(folder: string, archive: string): Promise<void> {
  const crun = await measureCrun(folder, archive, cycles)
  const containerd = await startContainerd()
  const theirs = await measureCri(containerd, folder, cycles)
  await containerd.stop()
  const embedded = await startEmbeddedRuntime()
  const own = await measureCri(embedded, folder, cycles)
  await embedded.stop()
  const row = (name: string, of: (cycle: Cycle) => number): string[] => [
    name,
    ms(of(own)),
    `${ms(of(crun))}, ${ratio(of(own), of(crun))} (≤ 1.5)`,
    `${ms(of(theirs))}, ${ratio(of(own), of(theirs))} (≤ 0.5)`,
  ]
  print([
    ['a life of a container', 't8s runtime', 'crun run', 'containerd'],
    row('time', ({ wallMs }) => wallMs),
    row('CPU time', ({ cpuMs }) => cpuMs),
  ])
}

async function measureImages(folder: string): Promise<void> {
  const { megabytes, ownMs, tarMs } = await measureUnpacking(folder)
  print([
    ['', 'value', 'tar with gzip'],
    [`unpacking ${Math.round(megabytes)} MB`, ms(ownMs), `${ms(tarMs)}, ${ratio(ownMs, tarMs)} (≤ 1.3)`],
  ])
}

async function measureNode(folder: string, archives: readonly string[]): Promise<void> {
  const node = await measureRealNode(folder, archives)
  const megabytes = (value: number): string => `${Math.round(value)} MB`
  print([
    ['t8s up with a real node', 'value', 'target'],
    ['start until the node is Ready', ms(node.readyMs), '≤ 600 ms'],
    ['memory then', megabytes(node.readyMegabytes), '≤ 220 MB'],
    ['a pod, created until Ready (median of 20)', ms(node.podMs), '≤ 400 ms'],
    ['50 pods of a Deployment Ready', ms(node.fiftyMs), '≤ 6,000 ms'],
    ['growth by 100 pods', megabytes(node.hundredMegabytes), '≤ 150 MB with keepers'],
    ['keepers and executors of 100 pods', megabytes(node.keeperMegabytes), '≤ 3 MB a pod'],
    ['CPU with 100 pods at rest', `${node.idlePercent.toFixed(1)} % of a core`, '≤ 3 %'],
  ])
}

prepareNodeNamespaces(covered)
const stopReaping = reapOrphans()
const folder = mkdtempSync(join(tmpdir(), 't8s-bench-runtime-'))
const archives = writeTestImages(folder)
await measureImages(folder)
await measureContainers(folder, archives[1]!)
await measureNode(folder, archives)
stopReaping()
process.exit(0)
