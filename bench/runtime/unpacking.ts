/** The time to unpack the layer of an image, beside `tar` with `gzip`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ImageStore, importArchive, LayeredSnapshots } from '../../src/runtime/images/index.ts'
import { layerOf, writeImage } from '../../test/kubelet/support/oci-image.ts'
import { median } from '../report.ts'

export interface Unpacking {
  /** The size of the files, in MB. */
  readonly megabytes: number
  readonly ownMs: number
  readonly tarMs: number
}

const rounds = 3
/** Files of every Debian, of many sizes. */
const source = '/usr/lib'

/** Unpacks about 50 MB of files of this machine. */
export async function measureUnpacking(folder: string): Promise<Unpacking> {
  let megabytes = 0
  const layer = layerOf((root) => {
    megabytes = copyFiles(root, 50)
  })
  const archive = join(folder, 'files.tar')
  writeImage(archive, ['registry.test/files:1'], [layer], {})
  const blob = join(folder, 'layer.tar.gz')
  execFileSync('sh', ['-c', 'cat >"$1"', 'sh', blob], { input: layer.bytes })
  const [own, tar]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const store = new ImageStore(join(folder, `store-${round}`))
    await importArchive(store, archive)
    const image = store.list()[0]!
    const snapshots = await LayeredSnapshots.open({ store })
    own.push(await timeOf(() => snapshots.unpack(image)))
    const target = join(folder, `tar-${round}`)
    mkdirSync(target)
    tar.push(await timeOf(async () => void execFileSync('tar', ['-xzf', blob, '-C', target])))
    for (const path of [target, join(folder, `store-${round}`)]) rmSync(path, { recursive: true, force: true })
  }
  return { megabytes, ownMs: median(own), tarMs: median(tar) }
}

async function timeOf(action: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await action()
  return performance.now() - started
}

/** Copies files until they have some megabytes, and returns the megabytes. */
function copyFiles(to: string, atLeast: number): number {
  const conditions = ['-xdev', '-name', 'debug', '-prune', '-o', '-type', 'f', '-size', '-4096k', '-print']
  const list = execFileSync('find', [source, ...conditions], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  let bytes = 0
  const chosen: string[] = []
  for (const file of list.trim().split('\n').sort()) {
    if (bytes >= atLeast * 1e6) break
    bytes += statSync(file).size
    chosen.push(file)
  }
  execFileSync('cp', ['--parents', '-t', to, '--', ...chosen])
  return bytes / 1e6
}
